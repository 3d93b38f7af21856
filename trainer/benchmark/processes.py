"""What /proc says about who descends from whom."""

from __future__ import annotations

import os


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
