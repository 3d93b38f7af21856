"""What /proc says about who descends from whom."""

from __future__ import annotations

import os
from collections.abc import Callable


def _parent(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name in parentheses may hold anything, parentheses included.
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return None


def parents() -> dict[int, int]:
    """Of each process that can be seen; zombies are processes."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (parent := _parent(int(name))) is not None:
            found[int(name)] = parent
    return found


def words_of(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


# guard, bubblewrap, init, interpreter: each the only child of the one before (RFC 0013).
_ZYGOTE_DEPTH = 4


def zygotes(
    found: set[int],
    known: dict[int, int],
    words: Callable[[int], list[bytes]] = words_of,
) -> set[int]:
    """Of the processes found, those that a daemon keeps to fork runs: not the forks."""
    guards = {
        pid
        for pid in found
        if (argv := words(pid))[:2] == [b"paddock-launch", b"guard"] and argv[2].startswith(b"z-")
    }
    level, kept = guards, set(guards)
    for _ in range(_ZYGOTE_DEPTH - 1):
        level = {pid for pid in found if known.get(pid) in level}
        kept |= level
    return kept


def descendants(pid: int, known: dict[int, int] | None = None) -> set[int]:
    known = parents() if known is None else known
    below: dict[int, list[int]] = {}
    for child, parent in known.items():
        below.setdefault(parent, []).append(child)
    found: set[int] = set()
    left = [pid]
    while left:
        for child in below.get(left.pop(), []):
            if child not in found:
                found.add(child)
                left.append(child)
    return found
