"""What the benchmark needs: told, built and checked, in the order in which it is missing."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

from . import corpus
from .containment import CHECKOUT, Programs, contained, programs
from .ending import read_report
from .errors import BenchmarkError

TARGET = "paddock"  # and paddockd with all that it needs
PACKAGES = {"torch": "python3-torch", "matplotlib": "python3-matplotlib"}
PROBE = "import torch; print(torch.__version__, flush=True)"
PROBE_SECONDS = 120


def setup(directory: Path | None, build: bool) -> int:
    missing = [
        name for module, name in PACKAGES.items() if importlib.util.find_spec(module) is None
    ]
    if missing:
        raise BenchmarkError(
            f"missing: {' '.join(missing)} (apt-get install, or this Python's pip)"
        )
    print("environment: torch and matplotlib are here")
    found = _programs(directory, build)
    print(f"programs: {found.paddock.parent}")
    print(f"corpus: {len(corpus.load())} hostile programs, SHA-256 {corpus.SHA256}")
    print(f"containment: torch {_contained_torch(found)} under the benchmark's profile")
    print("next: python3 -m benchmark sweep")
    return 0


def _programs(directory: Path | None, build: bool) -> Programs:
    if not build or directory is not None:
        return programs(directory)
    for command in (
        ["cmake", "--preset", "release", "-DBUILD_TESTING=OFF"],
        ["cmake", "--build", "--preset", "release", "--target", TARGET],
    ):
        try:
            done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)
        except OSError as error:
            raise BenchmarkError(f"{command[0]}: {error.strerror}") from None
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise BenchmarkError(f"{' '.join(command)}: {said[-1] if said else 'failed'}")
    return programs(CHECKOUT / "build/release/bin")


def _contained_torch(found: Programs) -> str:
    """Its version, as a contained interpreter sees it."""
    command = contained(found.paddock, [sys.executable, "-c", PROBE])
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_SECONDS)
    except subprocess.TimeoutExpired:
        raise BenchmarkError("a contained torch does not answer") from None
    if read_report(done.stderr) is None or done.returncode != 0:
        said = done.stderr.partition("paddock report")[0].strip().splitlines()
        raise BenchmarkError(f"no torch under the benchmark's profile: {(said or [''])[-1]}")
    return done.stdout.strip()
