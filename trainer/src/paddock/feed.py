"""The ledger's verdicts and groups, in order, each once, across restarts of the daemon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Union
from urllib.parse import urlencode

from .answers import parse_line, parse_object
from .errors import FeedPruned, ForgedVerdict, PaddockError, RequestRefused
from .mac import key_bytes, key_id, mac_holds
from .retry import RETRIED_STATUSES, Interrupted, retry_after_s
from .verdict import Group, Verdict

# The daemon sends an empty line each 15 s; a connection without one for so long is dead.
SILENCE_MAX_S = 60.0
REFUSALS = frozenset({"forbidden", "invalid_request", "not_found"})


@dataclass(frozen=True)
class FeedVerdict:
    """`is_authentic`: its MAC was made with this client's key. Without a key, or of a verdict from
    before the key was rotated, nobody can say: False."""

    seq: int
    request_id: str
    verdict: Verdict
    is_authentic: bool = False


@dataclass(frozen=True)
class FeedGroup:
    """Computed by the daemon while it is read, and without a MAC."""

    seq: int
    request_id: str
    group: Group


@dataclass(frozen=True)
class FeedDamaged:
    """An entry that somebody has edited in the ledger. It has no number."""

    seq: int
    detail: str


FeedEntry = Union[FeedVerdict, FeedGroup, FeedDamaged]


class FeedReader:
    """Where one reader of the feed is. A pure state machine that the two clients drive."""

    def __init__(
        self, after: int, follow: bool, advantages: str | None, key: str | bytes | None
    ) -> None:
        if after < 0:
            raise ValueError("'after' is 0 or a seq of the feed")
        self.position = after
        self.follow = follow
        self._advantages = advantages
        self._key = None if key is None else key_bytes(key)
        self._key_id = None if self._key is None else key_id(self._key)

    @property
    def target(self) -> str:
        """What to ask for now: goes on after what was handed out."""
        query = {"after": str(self.position)}
        if self.follow:
            query["follow"] = "true"
        if self._advantages is not None:
            query["advantages"] = self._advantages
        return f"/v1/feed?{urlencode(query)}"

    def take(self, line: bytes) -> FeedEntry | None:
        """None for an empty line, for what was handed out before, and for kinds of entries that a
        later daemon may have. Interrupted for what is no line of a feed."""
        event = parse_line(line)
        if event is None:
            return None
        error = event.get("error")
        if isinstance(error, Mapping):
            raise self.failure(200, None, line)
        seq = event.get("seq")
        if isinstance(seq, bool) or not isinstance(seq, int):
            raise Interrupted(f"an entry has no seq: {line[:80]!r}", is_nonsense=True)
        if seq <= self.position:
            return None
        try:
            entry = self._entry(seq, event)
        except ValueError as wrong:
            raise Interrupted(f"entry {seq} is none: {wrong}", is_nonsense=True) from None
        self.position = seq
        return entry

    def failure(
        self, status: int, retry_after: str | None, body: bytes
    ) -> Interrupted | PaddockError:
        """Of an answer that is not 200, or of a last line that says why there are no more."""
        try:
            error = parse_object(body).get("error")
        except Interrupted:
            error = None
        if not isinstance(error, Mapping):
            error = {}
        code = str(error.get("code", "unknown"))
        message = str(error.get("message", body[:200].decode("utf-8", "replace").strip()))
        oldest = error.get("oldest")
        if code == "pruned" and isinstance(oldest, int):
            return FeedPruned(self.position, oldest)
        if code in REFUSALS or (status != 200 and status not in RETRIED_STATUSES):
            return RequestRefused(status, code, message)
        return Interrupted(f"{message} ({code})", retry_after_s=retry_after_s(retry_after))

    def _entry(self, seq: int, event: Mapping[str, Any]) -> FeedEntry | None:
        request_id = str(event.get("request_id") or "")
        if event.get("kind") == "verdict":
            verdict = Verdict.from_json(event)
            return FeedVerdict(seq, request_id, verdict, self._is_authentic(verdict))
        if event.get("kind") == "group":
            return FeedGroup(seq, request_id, Group.from_json(event))
        if event.get("kind") == "damaged":
            return FeedDamaged(seq, str(event.get("detail") or ""))
        return None

    def _is_authentic(self, verdict: Verdict) -> bool:
        if self._key is None or verdict.mac is None or verdict.key_id != self._key_id:
            return False
        if not mac_holds(verdict, self._key):
            raise ForgedVerdict(verdict.id, "its MAC is wrong")
        return True
