"""Puts hostile programs in the place of what the model wrote."""

from __future__ import annotations

import random
from collections.abc import Sequence

from .corpus import Hostile


class Injector:
    """Its own generator: the same programs come at the same places whatever was rewarded before."""

    def __init__(self, corpus: Sequence[Hostile], fraction: float, seed: int) -> None:
        self._corpus = corpus
        self._fraction = fraction
        self._rng = random.Random(f"paddock injection {seed}")

    def draw(self, samples: int) -> list[Hostile | None]:
        """For each place of a step, what comes there instead."""
        drawn: list[Hostile | None] = []
        for _ in range(samples):
            chance, hostile = self._rng.random(), self._rng.choice(self._corpus)
            drawn.append(hostile if chance < self._fraction else None)
        return drawn
