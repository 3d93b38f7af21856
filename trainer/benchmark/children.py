"""Processes that the benchmark starts: they end when it does, whatever ended it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from typing import IO, Any, Union

PR_SET_PDEATHSIG = 1
GRACE_SECONDS = 15.0

_libc = ctypes.CDLL(None, use_errno=True)


def _dies_with(parent: int) -> Callable[[], None]:
    def prepare() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return prepare


def start(
    command: Sequence[str],
    *,
    stdout: Union[int, IO[Any]],
    stderr: Union[int, IO[Any]],
    cwd: str | None = None,
    environment: dict[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """In a group of its own: Ctrl-C is for the benchmark, which ends it."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        cwd=cwd,
        env=environment,
        start_new_session=True,
        preexec_fn=_dies_with(os.getpid()),
    )


def end(process: subprocess.Popen[bytes]) -> int:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
    return process.wait()
