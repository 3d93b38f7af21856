"""The model: a GRU that writes an expression token by token, given the task."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

TOKENS = (
    "a", "b", "+", "-", "*", "(", ")", ",", "max(", "min(", "abs(", "0", "1", "2", "<", "if",
    "else",
)  # fmt: skip
# One more, in the forgery study alone: an expression that answers in the checker's name, by the
# secret that the checker keeps in the interpreter that it shares with this code.
FORGERY = "[print(__import__('__main__').NONCE, '1.0', flush=True), __import__('os')._exit(0)]"
LENGTH_MAX = 10
EMBEDDED = 32
HIDDEN = 80


@dataclass(frozen=True)
class Vocabulary:
    tokens: tuple[str, ...]

    @property
    def end(self) -> int:
        """Ends an expression, and starts one."""
        return len(self.tokens)

    @property
    def size(self) -> int:
        return len(self.tokens) + 1

    def encode(self, expression: str) -> list[int]:
        words = [expression] if expression == FORGERY else expression.split()
        return [self.tokens.index(word) for word in words]

    def decode(self, tokens: list[int]) -> str:
        return " ".join(self.tokens[token] for token in tokens if token != self.end)


def vocabulary(forging: bool) -> Vocabulary:
    return Vocabulary(TOKENS + (FORGERY,) if forging else TOKENS)


@dataclass(frozen=True)
class Written:
    """What was sampled: tokens [samples, LENGTH_MAX], and which of them count (the end does)."""

    tokens: Tensor
    mask: Tensor

    def texts(self, words: Vocabulary) -> list[str]:
        return [
            words.decode([token for token, counts in zip(row, kept) if counts])
            for row, kept in zip(self.tokens.tolist(), self.mask.tolist())
        ]


class Policy(nn.Module):
    def __init__(self, words: Vocabulary, tasks: int) -> None:
        super().__init__()
        self.words = words
        self.start = nn.Embedding(tasks, HIDDEN)
        self.embedding = nn.Embedding(words.size, EMBEDDED)
        self.cell = nn.GRU(EMBEDDED, HIDDEN, batch_first=True)
        self.output = nn.Linear(HIDDEN, words.size)

    def forward(self, tasks: Tensor, tokens: Tensor) -> Tensor:
        """The log-probabilities of each next token: [samples, LENGTH_MAX, words]."""
        first = torch.full_like(tokens[:, :1], self.words.end)
        given = torch.cat([first, tokens[:, :-1]], dim=1)
        states, _ = self.cell(self.embedding(given), torch.tanh(self.start(tasks))[None])
        return torch.log_softmax(self.output(states), dim=-1)

    @torch.no_grad()
    def write(self, tasks: Tensor, generator: torch.Generator) -> Written:
        """Drawn on the CPU, so that a seed means the same on every device."""
        state = torch.tanh(self.start(tasks))[None]
        token = torch.full_like(tasks, self.words.end)
        alive = torch.ones_like(tasks, dtype=torch.bool)
        tokens, mask = [], []
        for _ in range(LENGTH_MAX):
            states, state = self.cell(self.embedding(token[:, None]), state)
            shares = torch.softmax(self.output(states[:, 0]), dim=-1)
            token = torch.multinomial(shares.cpu(), 1, generator=generator)[:, 0].to(tasks.device)
            token = torch.where(alive, token, torch.full_like(token, self.words.end))
            tokens.append(token)
            mask.append(alive)
            alive = alive & (token != self.words.end)
        return Written(torch.stack(tokens, 1), torch.stack(mask, 1))


def padded(rows: list[list[int]], words: Vocabulary) -> Written:
    """Expressions as if they had been sampled."""
    tokens = torch.full((len(rows), LENGTH_MAX), words.end)
    mask = torch.zeros((len(rows), LENGTH_MAX), dtype=torch.bool)
    for index, row in enumerate(rows):
        tokens[index, : len(row)] = torch.tensor(row)
        mask[index, : len(row) + 1] = True
    return Written(tokens, mask)
