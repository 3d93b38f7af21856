"""One step of GRPO: a clipped objective, and a price for leaving the policy of the warm-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .policy import Policy, Written


@dataclass(frozen=True)
class Update:
    loss: float
    kl: float  # from the reference, per token, before the update
    entropy: float  # per token, before the update
    clipped: float  # share of the tokens whose ratio was cut, in the last epoch


def _chosen(log_probs: Tensor, tokens: Tensor) -> Tensor:
    return log_probs.gather(-1, tokens[..., None])[..., 0]


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    return (values * mask).sum() / mask.sum().clamp(min=1)


def k3(reference: Tensor, current: Tensor) -> Tensor:
    """Schulman's estimate of KL(current || reference): never negative, little variance."""
    difference = reference - current
    return torch.exp(difference) - difference - 1


def update(
    policy: Policy,
    reference: Policy,
    optimizer: torch.optim.Optimizer,
    tasks: Tensor,
    written: Written,
    advantages: Sequence[float | None],
    *,
    epochs: int,
    clip: float,
    kl_weight: float,
) -> Update:
    """A sample whose advantage is None is left out: nobody judged what the model wrote there."""
    tokens = written.tokens
    judged = torch.tensor([a is not None for a in advantages], device=tokens.device)
    mask = written.mask & judged[:, None]
    advantage = torch.tensor([a or 0.0 for a in advantages], device=tokens.device)[:, None]
    with torch.no_grad():
        log_probs = policy(tasks, tokens)
        old = _chosen(log_probs, tokens)
        frozen = _chosen(reference(tasks, tokens), tokens)
        kl = float(_mean(k3(frozen, old), mask))
        entropy = float(_mean(-(log_probs.exp() * log_probs).sum(-1), mask))
    if not bool(mask.any()):
        return Update(loss=0.0, kl=kl, entropy=entropy, clipped=0.0)
    loss = clipped = torch.zeros(())
    for _ in range(epochs):
        new = _chosen(policy(tasks, tokens), tokens)
        ratio = torch.exp(new - old)
        cut = ratio.clamp(1 - clip, 1 + clip)
        gain = torch.minimum(ratio * advantage, cut * advantage)
        loss = _mean(-gain + kl_weight * k3(frozen, new), mask)
        clipped = _mean((ratio != cut).float(), mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return Update(float(loss.detach()), kl, entropy, float(clipped))
