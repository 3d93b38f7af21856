"""The formula of paddock's feed (RFC 0010, `grpo`), for backends that have no feed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Optional

STD_MIN = 1e-4

Numbers = list[Optional[float]]


def group_relative(rewards: Sequence[float | None]) -> Numbers:
    """(r - mean) / (std + 1e-4) with n - 1 in the divisor. None is in neither mean nor std and gets
    None; equal rewards give exact zeros, and so does a single one."""
    known = [reward for reward in rewards if reward is not None]
    if not known or min(known) == max(known):
        return [None if reward is None else 0.0 for reward in rewards]
    mean = sum(known) / len(known)
    std = math.sqrt(sum((reward - mean) ** 2 for reward in known) / (len(known) - 1))
    return [None if reward is None else (reward - mean) / (std + STD_MIN) for reward in rewards]
