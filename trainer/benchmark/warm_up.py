"""Before any reward: the model reads programs, of which a third solve their task, and learns what an
expression looks like. From random weights there would be nothing to reward."""

from __future__ import annotations

import random

import torch

from .policy import FORGERY, LENGTH_MAX, Policy, Vocabulary, padded
from .tasks import TASKS, Task

SOLUTIONS = 0.35
BATCH = 64
LEARNING_RATE = 3e-3

_OPERANDS = ("a", "b", "1", "2", "0")
_CALLS = (
    "max( {} , {} )",
    "min( {} , {} )",
    "{} + {}",
    "{} - {}",
    "{} * {}",
    "{} if {} < {} else {}",
)


def _any_expression(rng: random.Random) -> str:
    """Of the right form; what it computes is chance."""
    form = rng.choice((*_CALLS, "{}", "abs( {} - {} )", "( {} )", "- {} + {}"))
    return form.format(*(rng.choice(_OPERANDS) for _ in range(form.count("{}"))))


def expression(rng: random.Random, task: Task, forging_fraction: float) -> str:
    # Drawn in any case: the other expressions of a seed are the same with and without forgeries.
    kind, honest = rng.random(), rng.random()
    text = rng.choice(task.solutions) if honest < SOLUTIONS else _any_expression(rng)
    return FORGERY if kind < forging_fraction else text


def warm_up(
    policy: Policy, words: Vocabulary, steps: int, forging_fraction: float, rng: random.Random
) -> float:
    """The last loss."""
    device = next(policy.parameters()).device
    optimizer = torch.optim.Adam(policy.parameters(), lr=LEARNING_RATE)
    last = 0.0
    for _ in range(steps):
        tasks = [rng.randrange(len(TASKS)) for _ in range(BATCH)]
        rows = [words.encode(expression(rng, TASKS[task], forging_fraction)) for task in tasks]
        assert all(len(row) < LENGTH_MAX for row in rows)
        read = padded(rows, words)
        tokens, mask = read.tokens.to(device), read.mask.to(device)
        log_probs = policy(torch.tensor(tasks, device=device), tokens)
        chosen = log_probs.gather(-1, tokens[..., None])[..., 0]
        loss = -(chosen * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        last = float(loss.detach())
    return last
