"""One trial into one directory: checked, run, judged on held-out cases, summed up."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import corpus, policy, warm_up
from .backends.paddock import connect
from .configuration import Configuration
from .containment import Programs
from .daemon import PrivateDaemon
from .errors import BenchmarkError
from .files import LOCK, locked, read_json, write_json
from .held_out import pass_rates
from .observer import FINAL_STEPS, Observed, Observer
from .tasks import TASKS

CONFIGURATION = "configuration.json"
SUMMARY = "run_summary.json"
HELD_OUT = "held_out.json"


@dataclass(frozen=True)
class Where:
    """What a trial needs of the host; it changes no result."""

    programs: Programs
    socket: str | None = None  # of a daemon that is there; else the trial starts one
    stall_secs: float = 30.0


def identity(configuration: Configuration) -> dict[str, Any]:
    """What results may be compared by: also what is no option."""
    tasks = [[task.name, task.solutions, task.cases, task.held_out] for task in TASKS]
    model = [policy.TOKENS, policy.FORGERY, policy.EMBEDDED, policy.HIDDEN, policy.LENGTH_MAX]
    learning = [tasks, model, warm_up.SOLUTIONS, warm_up.BATCH, warm_up.LEARNING_RATE]
    return {
        "configuration": configuration.to_json(),
        "corpus_sha256": corpus.SHA256,
        "tasks_sha256": hashlib.sha256(json.dumps(learning).encode()).hexdigest(),
    }


def finished(directory: Path, configuration: Configuration) -> dict[str, Any] | None:
    """The summary of a trial that is over. BenchmarkError if another one is there."""
    if not directory.is_dir():
        return None
    names = set(os.listdir(directory)) - {LOCK}
    if CONFIGURATION not in names:
        if names:
            raise BenchmarkError(f"{directory} holds something else: {sorted(names)[0]}")
        return None
    if read_json(directory / CONFIGURATION) != json.loads(json.dumps(identity(configuration))):
        raise BenchmarkError(f"{directory} has a trial of another configuration")
    return read_json(directory / SUMMARY) if SUMMARY in names else None


def run(configuration: Configuration, directory: Path, where: Where) -> tuple[dict[str, Any], bool]:
    """The summary, and whether the trial was run for it now."""
    corpus.load()
    if where.socket is not None:
        connect(where.socket).close()
    finished(directory, configuration)  # before anything is written there
    with locked(directory):
        summary = finished(directory, configuration)
        if summary is not None:
            return summary, False
        write_json(directory / CONFIGURATION, identity(configuration))
        with ExitStack() as stack:
            socket = where.socket
            if socket is None:
                socket = stack.enter_context(PrivateDaemon(where.programs.paddockd)).socket
            observer = Observer(directory, configuration, where.stall_secs)
            needs_it = configuration.backend == "paddock"
            observed, summary = observer.run(where.programs.paddock, socket if needs_it else None)
            summary = {
                **identity(configuration),
                **summary,
                "held_out_pass_rate": _held_out(socket, configuration, observed, directory),
            }
        write_json(directory / SUMMARY, summary)
    return summary, True


def _held_out(
    socket: str, configuration: Configuration, observed: Observed, directory: Path
) -> float | None:
    """Of the last steps; in the forgery study each step's is written down, too."""
    every = configuration.forging_fraction > 0
    steps: Sequence[dict[str, Any]] = observed.samples if every else observed.samples[-FINAL_STEPS:]
    if not steps:
        return None
    with connect(socket) as client:
        rates = pass_rates(client, f"{os.getpid()}-{time.time_ns()}", steps)
    write_json(directory / HELD_OUT, {str(step): rate for step, rate in rates.items()})
    last = [rate for _, rate in sorted(rates.items())[-FINAL_STEPS:] if rate is not None]
    return sum(last) / len(last) if last else None
