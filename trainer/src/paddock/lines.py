"""Bytes as they come -> whole lines."""

from __future__ import annotations

from .retry import Interrupted

LINE_BYTES_MAX = 64 * 1024 * 1024  # the answer to an item of ten thousand cases has a tenth of that


class Lines:
    def __init__(self, line_bytes_max: int = LINE_BYTES_MAX) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._line_bytes_max = line_bytes_max

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that are whole now, without their ends."""
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0] = b"".join([*self._parts, whole[0]])
            self._parts, self._size = [], 0
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
        if self._size > self._line_bytes_max:
            raise Interrupted(f"a line has over {self._line_bytes_max} bytes", is_nonsense=True)
        return whole
