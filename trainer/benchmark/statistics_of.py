"""Means and what they may be off by."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

# Student's t, two-sided 95 %, by degrees of freedom; beyond the table the normal value is near.
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
_T95_MANY = 1.96


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % confidence interval of the mean; None for fewer than two values."""
    if len(values) < 2:
        return None
    mean = statistics.fmean(values)
    free = len(values) - 1
    t = _T95[free - 1] if free <= len(_T95) else _T95_MANY
    half = t * statistics.stdev(values) / math.sqrt(len(values))
    return mean - half, mean + half


def mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def quantile(values: Sequence[float], share: float) -> float | None:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None
