"""How far a sweep is: a bar with the time that is left on a terminal, else a line for each trial."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

WIDTH = 24


class Progress:
    def __init__(
        self, trials: int, out: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._trials = trials
        self._out = out
        self._clock = clock
        self._is_terminal = out.isatty()
        self._over = 0  # trials that are over, by whomever
        self._durations: list[float] = []  # of those that were run now
        self._title = ""
        self._steps = 1
        self._began = 0.0

    def was_done(self, title: str, result: str) -> None:
        self._over += 1
        self._line(f"{self._over:>3}/{self._trials}  {title}: {result} (before)")

    def begin(self, title: str, steps: int) -> None:
        self._title, self._steps, self._began = title, steps, self._clock()
        self.step(0)

    def step(self, step: int) -> None:
        if not self._is_terminal:
            return
        share = (self._over + min(step, self._steps) / self._steps) / self._trials
        bar = "#" * round(share * WIDTH)
        self._out.write(
            f"\r\033[K[{bar:<{WIDTH}}] {self._over}/{self._trials}  {self._title}  "
            f"step {step}/{self._steps}  {self.left()}"
        )
        self._out.flush()

    def left(self) -> str:
        """From what the trials of this sweep took so far."""
        if not self._durations:
            return ""
        mean = sum(self._durations) / len(self._durations)
        running = min(self._clock() - self._began, mean)
        seconds = mean * (self._trials - self._over) - running
        return f"{seconds / 60:.0f} min left" if seconds >= 90 else f"{max(seconds, 0):.0f} s left"

    def done(self, result: str) -> None:
        seconds = self._clock() - self._began
        self._durations.append(seconds)
        self._over += 1
        self._began = self._clock()
        left = f"  ({self.left()})" if self._over < self._trials else ""
        self._line(
            f"{self._over:>3}/{self._trials}  {self._title}: {result}, {seconds:.0f} s{left}"
        )

    def close(self) -> None:
        if self._is_terminal:
            self._out.write("\r\033[K")
            self._out.flush()

    def _line(self, text: str) -> None:
        clear = "\r\033[K" if self._is_terminal else ""
        self._out.write(f"{clear}{text}\n")
        self._out.flush()
