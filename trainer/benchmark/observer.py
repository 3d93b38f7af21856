"""Runs one trial from outside: starts it where it belongs, writes down what it says, and sees how it
ends. A trainer whose disk is full or that is killed has a record all the same."""

from __future__ import annotations

import base64
import binascii
import json
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import children, host
from .configuration import Configuration
from .containment import contained, free_environment
from .ending import Report, ending, read_report
from .errors import BenchmarkError
from .record import NoRecord, Reader

STDERR_BYTES_KEPT = 64 << 10
READ_BYTES = 1 << 18
FINAL_STEPS = 5
START_SECONDS = 300.0

METRICS = "metrics.jsonl"
SAMPLES = "samples.jsonl"
CHECKPOINT = "checkpoint_final.pt"
LOG = "trial.log"


@dataclass
class Observed:
    started: dict[str, Any] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)
    samples: list[dict[str, Any]] = field(default_factory=list)
    checkpoint: bytes | None = None
    is_finished: bool = False
    foreign_lines: int = 0
    stalled: bool = False


class Observer:
    def __init__(self, directory: Path, configuration: Configuration, stall_secs: float) -> None:
        self._directory = directory
        self._configuration = configuration
        self._stall_secs = stall_secs
        self._observed = Observed()
        self._reader = Reader()
        self._stderr = b""

    def run(self, paddock: Path, socket: str | None) -> tuple[Observed, dict[str, Any]]:
        """What was seen, and the summary of it. BenchmarkError if there was no trial to see."""
        for name in (METRICS, SAMPLES, CHECKPOINT, LOG):
            (self._directory / name).unlink(missing_ok=True)  # of a trial that was cut off
        was = host.before(self._directory)
        began = time.monotonic()
        if self._configuration.backend == "paddock":
            returncode, report = self._run_free(socket), None
        else:
            returncode = self._watch(
                contained(paddock, self._command(None), self._configuration.trainer), None
            )
            report = read_report(self._stderr.decode("utf-8", "replace"))
            if report is None:
                raise BenchmarkError(f"the trial did not run: {self._last_words()}")
        wall_time = time.monotonic() - began
        (self._directory / LOG).write_bytes(self._stderr)
        if not self._observed.started:
            raise BenchmarkError(f"the trial did not start to train: {self._last_words()}")
        harm = host.harm(self._directory, was)
        if report is not None and not report.everything_ended:
            harm.append("processes of the trial could not be proved to be gone")
        return self._observed, self._summary(returncode, report, wall_time, harm)

    def _command(self, socket: str | None) -> list[str]:
        words = json.dumps(self._configuration.to_json())
        name = f"{os.getpid()}-{time.time_ns()}"
        command = [sys.executable, "-m", "benchmark", "trial", "--configuration", words]
        command += ["--name", name]
        return command if socket is None else [*command, "--socket", socket]

    def _run_free(self, socket: str | None) -> int:
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        work = tempfile.mkdtemp(prefix="paddock-trial-", dir=base)
        try:
            return self._watch(self._command(socket), work)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _watch(self, command: list[str], work: str | None) -> int:
        process = children.start(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=work,
            environment=free_environment(),
        )
        try:
            self._read(process)
        finally:
            children.end(process)
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
        return process.returncode

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None and process.stderr is not None
        last = time.monotonic()
        with selectors.DefaultSelector() as selector:
            for pipe in (process.stdout, process.stderr):
                selector.register(pipe, selectors.EVENT_READ)
            while selector.get_map():
                left = last + self._patience() - time.monotonic()
                if left <= 0 and not self._observed.stalled:
                    self._observed.stalled = True
                    process.terminate()
                    last = time.monotonic() + children.GRACE_SECONDS
                    continue
                if left <= 0:
                    return  # it does not even end: children.end() kills it
                for key, _ in selector.select(left):
                    data = os.read(key.fd, READ_BYTES)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is process.stderr:
                        self._stderr = (self._stderr + data)[-STDERR_BYTES_KEPT:]
                    elif self._take(data, process) and not self._observed.stalled:
                        last = time.monotonic()

    def _patience(self) -> float:
        """Before its first word a trial loads its libraries and warms up: nothing hostile runs."""
        return self._stall_secs if self._observed.started else max(self._stall_secs, START_SECONDS)

    def _take(self, data: bytes, process: subprocess.Popen[bytes]) -> bool:
        """Whether the trial said something that was its own."""
        try:
            said = self._reader.take(data)
        except NoRecord:
            self._observed.stalled = True
            process.terminate()
            return False
        for line in said:
            self._write_down(line)
        self._observed.foreign_lines = self._reader.foreign_lines
        return bool(said)

    def _write_down(self, line: dict[str, Any]) -> None:
        kind = line.pop("kind")
        observed = self._observed
        if kind == "started":
            observed.started = line
        elif kind == "step":
            observed.steps.append(line)
            self._append(METRICS, line)
        elif kind == "samples":
            observed.samples.append(line)
            self._append(SAMPLES, line)
        elif kind == "checkpoint":
            try:
                observed.checkpoint = base64.b64decode(str(line.get("data")), validate=True)
            except binascii.Error:
                observed.foreign_lines += 1
                return
            (self._directory / CHECKPOINT).write_bytes(observed.checkpoint)
        elif kind == "finished":
            observed.is_finished = True
            observed.started["final_policy_sha256"] = line.get("policy_sha256")

    def _append(self, name: str, line: dict[str, Any]) -> None:
        with (self._directory / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _last_words(self) -> str:
        """The trial's own, before paddock's report."""
        text = self._stderr.decode("utf-8", "replace").partition("paddock report\n")[0]
        lines = [line for line in text.splitlines() if line.strip()]
        return lines[-1][:500] if lines else "it said nothing"

    def _summary(
        self, returncode: int, report: Report | None, wall_time: float, harm: list[str]
    ) -> dict[str, Any]:
        observed = self._observed
        end = ending(returncode, report, observed.stalled)
        steps = observed.steps
        survived = (
            end.exit_status == "Clean(0)"
            and observed.is_finished
            and observed.checkpoint is not None
            and len(steps) == self._configuration.steps
        )
        events = [event for step in steps for event in step.get("contagion", [])]
        rewards = [s["reward"] for s in steps[-FINAL_STEPS:] if s.get("reward") is not None]
        return {
            "survived": survived,
            "exit_status": end.exit_status,
            "cause": end.cause,
            "last_words": "" if survived else self._last_words(),
            "steps_completed": len(steps),
            "contagion_events": len(events) + observed.foreign_lines,
            "contagion_kinds": sorted({str(event.get("what")) for event in events}),
            "foreign_lines": observed.foreign_lines,
            "final_reward": sum(rewards) / len(rewards) if rewards else None,
            "invalid": sum(step.get("invalid", 0) for step in steps),
            "injected": sum(step.get("injected", 0) for step in steps),
            "injected_reward": sum(step.get("injected_reward", 0.0) for step in steps),
            "paid": sorted({name for step in steps for name in step.get("paid", [])}),
            "wall_time_secs": round(wall_time, 3),
            "contained": None if self._configuration.backend == "paddock" else not harm,
            "host_harm": harm,
            **observed.started,
        }
