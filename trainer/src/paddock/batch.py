"""One verify request on its way: its body, and what has come back. A pure state machine that the
two clients drive, each over its own kind of connection."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import ForgedVerdict
from .items import Item
from .answers import parse_line
from .mac import Checker, NonceBook, key_bytes
from .retry import Interrupted
from .values import JsonValue, canonical
from .verdict import Verdict


class Guard:
    """The key of a client and the nonces that it has sent."""

    def __init__(self, key: str | bytes | None) -> None:
        self._book = NonceBook()
        self._checker = None if key is None else Checker(key_bytes(key), self._book)

    @property
    def open_nonces(self) -> int:
        return len(self._book)

    @property
    def has_key(self) -> bool:
        return self._checker is not None

    def open(self, request_id: str, item_id: str) -> str | None:
        return None if self._checker is None else self._checker.open(request_id, item_id)

    def forget(self, nonce: str) -> None:
        self._book.forget(nonce)

    def check(self, verdict: Verdict, item: Item, nonce: str | None, tests_hash: str) -> None:
        if self._checker is None or nonce is None:
            return
        # Without a number there is nothing to gain: who could write this could as well have cut the
        # line. The daemon cannot sign what it could not read, or with a key that is damaged.
        if verdict.is_invalid and verdict.mac is None:
            self._book.forget(nonce)
            return
        self._checker.check(verdict, item, nonce, tests_hash)


class Batch:
    """Feed it the lines of each attempt; it hands out each item's verdict once."""

    def __init__(
        self, items: Iterable[Item], guard: Guard, options: Mapping[str, JsonValue]
    ) -> None:
        self.items = list(items)
        self._by_id = {item.id: item for item in self.items}
        if len(self._by_id) != len(self.items):
            raise ValueError("two items have the same id")
        if not self.items:
            raise ValueError("there are no items")
        self.options = {name: value for name, value in options.items() if value is not None}
        self.request_id = str(self.options.setdefault("request_id", new_request_id()))
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,128}", self.request_id):
            raise ValueError("a request_id has 1 to 128 of A-Z a-z 0-9 . _ -")
        self._guard = guard
        self._nonces: dict[str, str] = {}
        self._tests_hashes: dict[str, str] = {}
        self._verdicts: dict[str, Verdict] = {}
        self._seen_now: set[str] = set()
        self._written = [item.to_json() for item in self.items]
        for item in self.items:
            if item.nonce is not None and guard.has_key:
                raise ValueError(f"item {item.id!r}: with a key the client makes the nonces")
        self.body = b""

    def open(self) -> None:
        """Makes the nonces, and with them the body. Whoever has called this calls close()."""
        for item, written in zip(self.items, self._written):
            nonce = self._guard.open(self.request_id, item.id)
            if nonce is not None:
                self._nonces[item.id] = nonce
                written["nonce"] = nonce
            self._tests_hashes[item.id] = self._tests_hash(item, written["tests"])
        whole = {**self.options, "stream": True, "items": self._written}
        self.body = json.dumps(whole, allow_nan=False).encode()
        self._written = []

    def _tests_hash(self, item: Item, tests: JsonValue) -> str:
        what: JsonValue = {
            "integrity": item.asked_integrity,
            "language": item.language,
            "scoring": self.options.get("scoring", "fraction"),
            "stop": self.options.get("stop", "all"),
            "tests": tests,
        }
        return hashlib.sha256(canonical(what).encode("utf-8")).hexdigest()

    def begin_attempt(self) -> None:
        self._seen_now.clear()

    def take(self, line: bytes) -> Verdict | None:
        """The verdict of one line, if it is one that has not been handed out. Interrupted for what
        is no line of an answer, ForgedVerdict for a verdict that does not hold."""
        event = parse_line(line)
        if event is None:
            return None
        error = event.get("error")
        if isinstance(error, Mapping):
            raise Interrupted(f"{error.get('code')}: {error.get('message')}")
        kind = event.get("event")
        if kind == "verdict":
            return self._take_verdict(event)
        if kind == "end" and len(self._seen_now) < len(self.items):
            raise Interrupted(
                f"only {len(self._seen_now)} of {len(self.items)} items were answered"
            )
        return None  # a group, which has no MAC; or what a later daemon adds

    def _take_verdict(self, event: Mapping[str, Any]) -> Verdict | None:
        try:
            verdict = Verdict.from_json(event)
        except ValueError as error:
            raise Interrupted(f"an answer is none: {error}", is_nonsense=True) from None
        item = self._by_id.get(verdict.id)
        if item is None:
            raise ForgedVerdict(verdict.id, "no item of this request has this id")
        if verdict.id in self._seen_now:
            raise ForgedVerdict(verdict.id, "it has come twice")
        self._seen_now.add(verdict.id)
        if verdict.id in self._verdicts:
            return None  # an earlier attempt had it, checked
        self._guard.check(
            verdict, item, self._nonces.get(verdict.id), self._tests_hashes[verdict.id]
        )
        self._verdicts[verdict.id] = verdict
        return verdict

    @property
    def is_complete(self) -> bool:
        return len(self._verdicts) == len(self.items)

    def verdicts(self) -> tuple[Verdict, ...]:
        """What there is, in the order of the request."""
        return tuple(self._verdicts[item.id] for item in self.items if item.id in self._verdicts)

    def close(self) -> None:
        """No answer is expected any more."""
        for nonce in self._nonces.values():
            self._guard.forget(nonce)


def new_request_id() -> str:
    return f"py-{secrets.token_hex(12)}"
