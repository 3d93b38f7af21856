"""What can go wrong. Everything that this package raises on purpose is a PaddockError, but for
TypeError and ValueError, which say that the caller's own values cannot be sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .verdict import Verdict


class PaddockError(Exception):
    """The base of this package's errors."""


class Unavailable(PaddockError):
    """No answer within the timeout: the daemon is not there, has no room or went away.

    It says nothing about the code. `received` holds the verdicts that came before, in the order of
    the request; asking again with the same `request_id` gets the others.
    """

    def __init__(
        self, message: str, *, request_id: str = "", received: tuple[Verdict, ...] = ()
    ) -> None:
        super().__init__(message)
        self.request_id = request_id
        self.received = received


class ForgedVerdict(PaddockError):
    """An answer that the holder of the key did not give to this question."""

    def __init__(self, item_id: str, why: str) -> None:
        super().__init__(f"the verdict for {item_id!r} does not hold: {why}")
        self.item_id = item_id
        self.why = why


class RequestRefused(PaddockError):
    """The daemon understood the request and will not serve it, now or later."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{message} ({code}, HTTP {status})")
        self.status = status
        self.code = code


class FeedPruned(PaddockError):
    """Entries after `after` are no longer in the ledger; the oldest event there is `oldest`."""

    def __init__(self, after: int, oldest: int) -> None:
        super().__init__(f"the feed after {after} has been pruned; the oldest event is {oldest}")
        self.after = after
        self.oldest = oldest


class InfrastructureError(PaddockError):
    """There is no reward for this sample, through no fault of its code."""

    def __init__(self, cause: str, detail: str = "") -> None:
        super().__init__(f"{cause}: {detail}" if detail else cause)
        self.cause = cause
        self.detail = detail


class TooManyInvalid(PaddockError):
    """Raised out of a TRL reward function to end a training that gets no rewards any more."""

    def __init__(self, count: int, cause: str, detail: str) -> None:
        super().__init__(f"{count} samples in a row had no reward; the last: {cause}: {detail}")
        self.count = count
        self.cause = cause
        self.detail = detail
