"""What the samples may not change about their trainer, measured before and after each step."""

from __future__ import annotations

import os
import secrets
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .processes import descendants, parents, zygotes

MIB = 1 << 20

# What may grow within one step without being called contagion.
MEMORY_GROWTH_MAX = 64 * MIB  # an allocator keeps some
PEAK_GROWTH_MAX = 256 * MIB
OWN_DISK_SHRINK_MAX = 8 * MIB  # a small file system that nobody else uses: a checkpoint fits
SHARED_DISK_SHRINK_MAX = 1024 * MIB  # the host's: others write there, too
SMALL_DISK = 4096 * MIB
SETTLE_SECONDS = 3.0
CANARY_BYTES = 4096


@dataclass(frozen=True)
class Vitals:
    rss_bytes: int
    peak_bytes: int
    descriptors: int
    children: int
    threads: int
    nice: int
    processes: int  # RFC 0014: all that the baseline sees; below the daemon for the treatment
    host_processes: int  # all that can be seen: told, not judged
    free_work_bytes: int
    free_tmp_bytes: int
    free_shared_memory_bytes: int
    free_root_bytes: int
    canary_is_whole: bool

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Contagion:
    what: str
    before: int
    after: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Canary:
    """A file beside the trainer's own, and a block of its memory."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "canary"
        self._block = bytearray(secrets.token_bytes(CANARY_BYTES))
        self._copy = bytes(self._block)
        self.restore()

    def restore(self) -> None:
        """So that one who changed it counts once."""
        try:
            self._path.write_bytes(self._copy)
        except OSError:
            pass  # a full disk; then it stays broken, and is counted
        self._block[:] = self._copy

    def is_whole(self) -> bool:
        try:
            return self._path.read_bytes() == self._copy == bytes(self._block)
        except OSError:
            return False


def _memory() -> tuple[int, int]:
    found = {"VmRSS": 0, "VmHWM": 0}
    with open("/proc/self/status") as file:
        for line in file:
            name, _, rest = line.partition(":")
            if name in found:
                found[name] = int(rest.split()[0]) * 1024
    return found["VmRSS"], found["VmHWM"]


def _free(path: str) -> int:
    try:
        status = os.statvfs(path)
    except OSError:
        return 0
    return status.f_bavail * status.f_frsize


def _size(path: str) -> int:
    try:
        status = os.statvfs(path)
    except OSError:
        return 0
    return status.f_blocks * status.f_frsize


class Watch:
    """`daemon_pid` is None for a trainer that runs the code itself."""

    def __init__(self, work: Path, daemon_pid: int | None) -> None:
        self._daemon_pid = daemon_pid
        self._canary = Canary(work)
        self._places = {
            "free_work_bytes": str(work),
            "free_tmp_bytes": tempfile.gettempdir(),
            "free_shared_memory_bytes": "/dev/shm",
            "free_root_bytes": "/",
        }
        self._idle_processes = self._processes(parents())

    def look(self) -> Vitals:
        known = parents()
        rss, peak = _memory()
        return Vitals(
            rss_bytes=rss,
            peak_bytes=peak,
            descriptors=len(os.listdir("/proc/self/fd")),
            children=sum(1 for parent in known.values() if parent == os.getpid()),
            threads=threading_count(),
            nice=os.getpriority(os.PRIO_PROCESS, 0),
            processes=self._processes(known),
            host_processes=len(known),
            canary_is_whole=self._canary.is_whole(),
            **{name: _free(path) for name, path in self._places.items()},
        )

    def settled(self, clock: Callable[[], float] = time.monotonic) -> Vitals:
        """A daemon's processes come and go by themselves (runtimes are kept warm): they have a
        moment to be no more than they were."""
        until = clock() + SETTLE_SECONDS
        while True:
            seen = self.look()
            if self._daemon_pid is None or seen.processes <= self._idle_processes:
                return seen
            if clock() >= until:
                return seen
            time.sleep(0.05)

    def begin(self) -> Vitals:
        """Before a step. Until the first one the daemon may still have been warming up."""
        self._canary.restore()
        seen = self.look()
        self._idle_processes = max(self._idle_processes, seen.processes)
        return seen

    def contagion(self, before: Vitals, after: Vitals) -> list[Contagion]:
        growth = {
            "rss_bytes": MEMORY_GROWTH_MAX,
            "peak_bytes": PEAK_GROWTH_MAX,
            "descriptors": 0,
            "children": 0,
            "threads": 0,
            "nice": 0,
            "processes": 0,
        }
        found = []
        for name, bound in growth.items():
            was, now = getattr(before, name), getattr(after, name)
            if now > was + bound:
                found.append(Contagion(name, was, now))
        seen: set[int] = set()
        for name, path in self._places.items():
            was, now = getattr(before, name), getattr(after, name)
            if now < was - shrink_max(_size(path)) and (device := _device(path)) not in seen:
                seen.add(device)
                found.append(Contagion(name, was, now))
        if before.canary_is_whole and not after.canary_is_whole:
            found.append(Contagion("canary", 1, 0))
        return found

    def _processes(self, known: dict[int, int]) -> int:
        if self._daemon_pid is None:
            return len(known)
        below = descendants(self._daemon_pid, known)
        return len(below - zygotes(below, known))


def shrink_max(size_bytes: int) -> int:
    return OWN_DISK_SHRINK_MAX if size_bytes < SMALL_DISK else SHARED_DISK_SHRINK_MAX


def threading_count() -> int:
    """As the kernel counts them: torch's are not Python's."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return threading.active_count()


def _device(path: str) -> int:
    try:
        return os.stat(path).st_dev
    except OSError:
        return -1
