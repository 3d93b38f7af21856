"""When to ask again: the waits between tries, and the deadline over all of them. Pure but for the
clock and the dice, which a test hands in."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

FIRST_WAIT_S = 0.1
WAIT_MAX_S = 5.0
JITTER = 0.25  # so that a thousand clients of one daemon do not come back at once
# 429 and 503 say so with Retry-After. 500 is a fault of the daemon, 502 and 504 of what stands
# between. 501 is not among them: the host cannot confine, and will not in a moment.
RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504})


class Interrupted(Exception):
    """A try got no further. Asking again may help. Never leaves this package."""

    def __init__(
        self,
        why: str,
        *,
        retry_after_s: float | None = None,
        is_nonsense: bool = False,
        is_final: bool = False,
    ) -> None:
        super().__init__(why)
        self.retry_after_s = retry_after_s
        self.is_nonsense = is_nonsense  # not what paddockd says
        self.is_final = is_final  # and asking again cannot help


class Deadline:
    """One point in time for all tries together."""

    def __init__(
        self, timeout_s: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if timeout_s is not None and timeout_s <= 0:
            raise ValueError("a timeout is more than 0 seconds")
        self._clock = clock
        self._end = None if timeout_s is None else clock() + timeout_s

    def left_s(self) -> float | None:
        """None: there is none. Never negative."""
        return None if self._end is None else max(0.0, self._end - self._clock())

    def is_over(self) -> bool:
        return self.left_s() == 0.0


class Backoff:
    """Doubling waits, for as long as nothing gets better."""

    def __init__(self, dice: Callable[[], float] = random.random) -> None:
        self._wait_s = FIRST_WAIT_S
        self._dice = dice

    def progress(self) -> None:
        """Something was answered: it starts over."""
        self._wait_s = FIRST_WAIT_S

    def next_wait_s(self, retry_after_s: float | None = None) -> float:
        """At least what the daemon asked for."""
        wait_s = max(self._wait_s, retry_after_s or 0.0)
        self._wait_s = min(WAIT_MAX_S, self._wait_s * 2)
        return wait_s * (1.0 + JITTER * self._dice())


def retry_after_s(value: str | None) -> float | None:
    """Seconds of a Retry-After header. (A date in it is not something that paddockd sends.)"""
    if value is None or not value.strip().isdigit():
        return None
    return float(value)


class Tries:
    """Whether to try again, and after how long."""

    # What answers with nonsense three times in a row is no paddockd.
    NONSENSE_MAX = 3

    def __init__(self, deadline: Deadline, backoff: Backoff | None = None) -> None:
        self.deadline = deadline
        self._backoff = Backoff() if backoff is None else backoff
        self._nonsense = 0

    def progress(self) -> None:
        self._backoff.progress()
        self._nonsense = 0

    def next_wait_s(self, failure: Interrupted) -> float | None:
        """None: no more."""
        self._nonsense = self._nonsense + 1 if failure.is_nonsense else 0
        if failure.is_final or self._nonsense >= self.NONSENSE_MAX:
            return None
        wait_s = self._backoff.next_wait_s(failure.retry_after_s)
        left_s = self.deadline.left_s()
        return wait_s if left_s is None or wait_s < left_s else None
