"""What the trials of a sweep left, read back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .configuration import Configuration, percent
from .errors import BenchmarkError
from .files import read_json
from .observer import METRICS
from .run import HELD_OUT, SUMMARY
from .sweep import SWEEP


@dataclass(frozen=True)
class Result:
    configuration: Configuration
    summary: dict[str, Any]
    steps: tuple[dict[str, Any], ...]
    held_out: dict[int, float | None]

    @property
    def percent(self) -> str:
        return percent(self.configuration.adversarial_fraction)

    @property
    def survived(self) -> bool:
        return self.summary.get("survived") is True

    def step_times(self) -> list[float]:
        return [float(step["step_time_secs"]) for step in self.steps]


@dataclass(frozen=True)
class Results:
    results: tuple[Result, ...]
    missing: tuple[str, ...]  # trials of the sweep that are not over

    def of(self, backend: str, percent_: str | None = None) -> list[Result]:
        """Of the survival study."""
        return [
            result
            for result in self.results
            if result.configuration.backend == backend
            and result.configuration.forging_fraction == 0
            and percent_ in (None, result.percent)
        ]

    def forging(self, backend: str) -> list[Result]:
        return [
            result
            for result in self.results
            if result.configuration.backend == backend and result.configuration.forging_fraction > 0
        ]

    def backends(self) -> list[str]:
        return _in_order(
            r.configuration.backend for r in self.results if not r.configuration.forging_fraction
        )

    def percents(self) -> list[str]:
        found = {r.percent for r in self.results if not r.configuration.forging_fraction}
        return sorted(found, key=float)


def read(directory: Path) -> Results:
    """BenchmarkError if there is no sweep. A sweep directory may hold one of each study below it."""
    sweeps = [directory] if (directory / SWEEP).exists() else []
    if not sweeps and directory.is_dir():
        sweeps = [path.parent for path in sorted(directory.glob(f"*/{SWEEP}"))]
    if not sweeps:
        raise BenchmarkError(f"{directory} has no sweep")
    results, missing = [], []
    for sweep in sweeps:
        for name in read_json(sweep / SWEEP).get("trials", {}):
            if (sweep / name / SUMMARY).exists():
                results.append(_result(sweep / name))
            else:
                missing.append(name)
    if not results:
        raise BenchmarkError(f"{directory}: no trial is over yet")
    return Results(tuple(results), tuple(missing))


def _result(directory: Path) -> Result:
    summary = read_json(directory / SUMMARY)
    configuration = Configuration.from_json(summary.get("configuration", {}))
    steps = []
    if (directory / METRICS).exists():
        for number, line in enumerate((directory / METRICS).read_text().splitlines(), 1):
            try:
                steps.append(json.loads(line))
            except ValueError:
                raise BenchmarkError(f"{directory / METRICS}:{number} is damaged") from None
    held_out = read_json(directory / HELD_OUT) if (directory / HELD_OUT).exists() else {}
    rates = {int(step): rate for step, rate in held_out.items()}
    return Result(configuration, summary, tuple(steps), rates)


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
