"""Where a baseline's trainer runs, and how it is told that it does."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import BenchmarkError

PROFILES_OF = {"grpo": "BENCHMARK", "trl": "BENCHMARK_TRL"}
PROFILES = Path(__file__).with_name("profiles")
CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAMS = ("paddock", "paddockd")


@dataclass(frozen=True)
class Programs:
    paddock: Path
    paddockd: Path


def programs(directory: Path | None = None) -> Programs:
    """Those of a release build, of another one, or of the host."""
    if directory is None:
        named = os.environ.get("PADDOCK_BIN")
        candidates = [Path(named)] if named else []
        candidates += [CHECKOUT / "build/release/bin", CHECKOUT / "build/dev/bin"]
        candidates += [Path(part) for part in os.get_exec_path()]
    else:
        candidates = [directory]
    for candidate in candidates:
        if all(os.access(candidate / name, os.X_OK) for name in PROGRAMS):
            found = candidate.resolve()
            return Programs(found / "paddock", found / "paddockd")
    where = str(directory) if directory else "build/release/bin (cmake --preset release) or $PATH"
    raise BenchmarkError(f"no paddock and paddockd in {where}")


def require_contained() -> None:
    """Nothing hostile runs where it could do harm: the init of this process's PID namespace must be
    paddock's, which ends everything in it."""
    try:
        with open("/proc/1/comm") as file:
            init = file.read().strip()
    except OSError:
        init = ""
    if init != "paddock-launch":
        raise BenchmarkError("a trainer that runs hostile code itself must run under a profile")


def _library_directories() -> list[str]:
    """Debian's numpy finds BLAS through /etc/alternatives, and a sandbox has an /etc of its own."""
    alternatives = Path("/etc/alternatives")
    found = []
    if alternatives.is_dir():
        for pattern in ("libblas.so.3*", "liblapack.so.3*"):
            found += [str(link.resolve().parent) for link in sorted(alternatives.glob(pattern))]
    return list(dict.fromkeys(found))


def _outside_usr(path: str) -> bool:
    return not Path(path).resolve().is_relative_to("/usr")


# What may change the last digit of a sum: the same for every trial, contained or not.
_ARITHMETIC = ("OPENBLAS_", "OMP_", "MKL_", "ATEN_", "NVPL_")


def _for_training() -> dict[str, str]:
    return {
        "PYTHONPATH": str(CHECKOUT / "trainer"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        # Of TRL's libraries: nothing is fetched, no threads or caches of their own.
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "TRL_EXPERIMENTAL_SILENCE": "1",
    }


def free_environment() -> dict[str, str]:
    """Of a trial that is not contained."""
    kept = {name: v for name, v in os.environ.items() if not name.startswith(_ARITHMETIC)}
    return {**kept, **_for_training()}


def contained(paddock: Path, command: Sequence[str], trainer: str = "grpo") -> list[str]:
    """`command`, an argv of this interpreter's, under the benchmark's profile."""
    shown = {str(CHECKOUT / "trainer")}
    shown |= {path for path in (sys.prefix, sys.base_prefix) if _outside_usr(path)}
    environment = [f"{name}={value}" for name, value in _for_training().items()]
    if libraries := _library_directories():
        environment.append("LD_LIBRARY_PATH=" + ":".join(libraries))
    return [
        str(paddock), "--embedded", "--profiles", str(PROFILES), "run", "--profile", PROFILES_OF[trainer],
        *(word for path in sorted(shown) for word in ("--bind-ro", path)),
        "--report", "--exit-status", "--", "/usr/bin/env", *environment, *command,
    ]  # fmt: skip
