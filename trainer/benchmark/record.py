"""What a trial says to its observer: one JSON object a line, on its standard output."""

from __future__ import annotations

import json
import os
from typing import Any

LINE_BYTES_MAX = 4 << 20
RECORD_BYTES_MAX = 64 << 20


_out = 1


def claim() -> None:
    """From now on what others print is no part of the record: libraries do. It goes to stderr."""
    global _out
    if _out == 1:
        _out = os.dup(1)
        os.dup2(2, 1)


def say(kind: str, **words: Any) -> None:
    line = json.dumps({"kind": kind, **words}, separators=(",", ":")).encode() + b"\n"
    if len(line) > LINE_BYTES_MAX:
        raise ValueError(f"a line of {len(line)} bytes")
    while line:
        line = line[os.write(_out, line) :]


class NoRecord(Exception):
    """More than a trial may say."""


class Reader:
    """Bytes in, objects out. What is no object is counted: somebody else wrote it."""

    def __init__(self) -> None:
        self._rest = b""
        self._bytes = 0
        self.foreign_lines = 0

    def take(self, data: bytes) -> list[dict[str, Any]]:
        self._bytes += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._bytes > RECORD_BYTES_MAX or len(self._rest) > LINE_BYTES_MAX:
            raise NoRecord(f"the trial said more than {RECORD_BYTES_MAX} bytes, or a line too long")
        found = []
        for line in lines:
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                value = None
            if isinstance(value, dict) and isinstance(value.get("kind"), str):
                found.append(value)
            else:
                self.foreign_lines += 1
        return found
