"""What a contained trial may not change about the host: measured from outside, around it."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

CANARY = ".host_canary"
MIB = 1 << 20
SHRINK_MAX_BYTES = 1024 * MIB  # others write to this disk, too


@dataclass(frozen=True)
class HostState:
    free_bytes: int
    canary: bytes


def before(directory: Path) -> HostState:
    canary = secrets.token_bytes(64)
    (directory / CANARY).write_bytes(canary)
    return HostState(_free(directory), canary)


def harm(directory: Path, was: HostState) -> list[str]:
    found = []
    path = directory / CANARY
    try:
        if path.read_bytes() != was.canary:
            found.append("the host's canary was changed")
        path.unlink()
    except OSError as error:
        found.append(f"the host's canary is gone: {error}")
    lost = was.free_bytes - _free(directory)
    if lost > SHRINK_MAX_BYTES:
        found.append(f"the host's disk lost {lost // MIB} MiB")
    return found


def _free(directory: Path) -> int:
    status = os.statvfs(directory)
    return status.f_bavail * status.f_frsize
