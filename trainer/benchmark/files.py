"""Files that are there as a whole or not at all, and directories that one process has at a time."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import BenchmarkError

LOCK = ".lock"


def write_json(path: Path, value: Any) -> None:
    write_bytes(path, (json.dumps(value, indent=2) + "\n").encode())


def write_bytes(path: Path, data: bytes) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    with unfinished.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BenchmarkError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise BenchmarkError(f"{path} is damaged: {error}") from None
    if not isinstance(value, dict):
        raise BenchmarkError(f"{path} is damaged: it holds no object")
    return value


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """BenchmarkError if another process has it, or it cannot be written."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        handle = os.open(directory / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise BenchmarkError(f"{directory}: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise BenchmarkError(f"{directory} is in use by another process") from None
    finally:
        os.close(handle)
