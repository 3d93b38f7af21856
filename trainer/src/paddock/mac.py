"""The message authentication code of verdicts, and which nonces are still open."""

from __future__ import annotations

import hashlib
import hmac
import threading
from pathlib import Path

from .errors import ForgedVerdict, PaddockError
from .items import Item
from .verdict import Verdict

KEY_BYTES = 32
NONCE_DIGITS = 32
OPEN_NONCES_MAX = 1_000_000


def key_bytes(key: str | bytes) -> bytes:
    """A key as `paddock key new` prints it (hex), or its 32 bytes."""
    if isinstance(key, str):
        try:
            key = bytes.fromhex(key.strip())
        except ValueError:
            raise ValueError("a key is 64 hexadecimal digits") from None
    if len(key) != KEY_BYTES:
        raise ValueError(f"a key has {KEY_BYTES} bytes, not {len(key)}")
    return key


def read_key(path: str | Path) -> bytes:
    """The key in a file: 64 hexadecimal digits."""
    return key_bytes(Path(path).read_text("ascii"))


def key_id(key: bytes) -> str:
    return hashlib.sha256(key).hexdigest()[:16]


def mac_text(verdict: Verdict) -> bytes:
    lines = (
        "paddock-verdict-1",
        verdict.nonce,
        verdict.id,
        verdict.code_hash,
        verdict.tests_hash,
        verdict.policy_hash,
        verdict.integrity,
        verdict.verdict,
        "null" if verdict.reward is None else "%.17g" % verdict.reward,
    )
    return "".join(line + "\n" for line in lines).encode("utf-8")


def mac_of(verdict: Verdict, key: bytes) -> str:
    return hmac.new(key, mac_text(verdict), hashlib.sha256).hexdigest()


def mac_holds(verdict: Verdict, key: bytes) -> bool:
    said = (verdict.mac or "").encode("utf-8", "replace")
    return hmac.compare_digest(said, mac_of(verdict, key).encode("ascii"))


def nonce_for(key: bytes, request_id: str, item_id: str) -> str:
    """Nobody without the key can tell it, and whoever asks again under the same request_id, be it a
    trainer that was started again, knows the nonce that the recorded verdict must have."""
    text = f"paddock-nonce-1\n{request_id}\n{item_id}\n".encode()
    return hmac.new(key, text, hashlib.sha256).hexdigest()[:NONCE_DIGITS]


class NonceBook:
    """The nonces that were sent and not yet answered. A nonce is good for one verdict."""

    def __init__(self, open_max: int = OPEN_NONCES_MAX) -> None:
        self._open: set[str] = set()
        self._open_max = open_max
        self._lock = threading.Lock()

    def open(self, nonce: str) -> None:
        with self._lock:
            if nonce in self._open:
                raise PaddockError("the same request_id is being asked about already")
            if len(self._open) >= self._open_max:
                raise PaddockError(f"{self._open_max} verdicts are outstanding already")
            self._open.add(nonce)

    def use(self, nonce: str) -> bool:
        """Whether it was open; it is not any more."""
        with self._lock:
            if nonce not in self._open:
                return False
            self._open.remove(nonce)
            return True

    def forget(self, nonce: str) -> None:
        """No answer is expected any more."""
        with self._lock:
            self._open.discard(nonce)

    def __len__(self) -> int:
        with self._lock:
            return len(self._open)


class Checker:
    """Checks each verdict against what was asked, with one key."""

    def __init__(self, key: bytes, book: NonceBook) -> None:
        self._key = key
        self._key_id = key_id(key)
        self._book = book

    def open(self, request_id: str, item_id: str) -> str:
        """A nonce for one item."""
        nonce = nonce_for(self._key, request_id, item_id)
        self._book.open(nonce)
        return nonce

    def check(self, verdict: Verdict, item: Item, nonce: str, tests_hash: str | None) -> None:
        """ForgedVerdict unless the daemon gave this verdict to this item, now."""
        if verdict.mac is None:
            raise ForgedVerdict(item.id, "it has no MAC; does the daemon have this tenant's key?")
        if verdict.key_id is not None and verdict.key_id != self._key_id:
            raise ForgedVerdict(
                item.id,
                f"its key is {verdict.key_id}, this client's is {self._key_id}; was it rotated?",
            )
        # First the MAC: a nonce is not spent on what somebody else wrote.
        if not mac_holds(verdict, self._key):
            raise ForgedVerdict(item.id, "its MAC is wrong")
        if verdict.id != item.id:
            raise ForgedVerdict(item.id, f"it is for {verdict.id!r}")
        if verdict.nonce != nonce:
            raise ForgedVerdict(item.id, "its nonce is not the one that was sent")
        if verdict.code_hash != item.code_hash:
            raise ForgedVerdict(item.id, "it is about other code")
        if tests_hash is not None and verdict.tests_hash != tests_hash:
            raise ForgedVerdict(item.id, "it is about other tests")
        if verdict.integrity != item.asked_integrity:
            raise ForgedVerdict(
                item.id, f"its integrity is {verdict.integrity}, not {item.asked_integrity}"
            )
        if not self._book.use(nonce):
            raise ForgedVerdict(item.id, "its nonce was used before")
