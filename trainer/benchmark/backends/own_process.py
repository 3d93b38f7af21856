"""What both baselines share: a subprocess of the trainer for each sample, a few at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from ..advantages import group_relative
from ..samples import Judgement, Sample

Output = Callable[[Sample], "tuple[str, Callable[[bytes], float]]"]


class OwnProcesses:
    """`checked` gives a sample's program and what its output is worth. What goes wrong with starting
    a process is not caught: a trainer that cannot start one has no rewards."""

    def __init__(self, checked: Output, time_limit_secs: float) -> None:
        self._checked = checked
        self._time_limit_secs = time_limit_secs
        workers = os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(workers)
        # Each worker's thread is there before anything is measured.
        for _ in self._pool.map(self._run, [("pass", lambda output: 0.0)] * workers):
            pass

    def judge(self, request_id: str, samples: Sequence[Sample]) -> Judgement:
        results = list(self._pool.map(self._run, [self._checked(sample) for sample in samples]))
        rewards = [reward for reward, _ in results]
        advantages: list[float | None] = [None] * len(samples)
        groups: dict[int, list[int]] = {}
        for index, sample in enumerate(samples):
            if sample.injected is None:
                groups.setdefault(sample.group, []).append(index)
        for members in groups.values():
            for index, value in zip(members, group_relative([rewards[i] for i in members])):
                advantages[index] = value
        return Judgement(rewards, advantages, [cause for _, cause in results])

    def close(self) -> None:
        self._pool.shutdown()

    def _run(self, job: tuple[str, Callable[[bytes], float]]) -> tuple[float, str]:
        program, worth = job
        try:
            done = subprocess.run(
                [sys.executable, "-c", program],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self._time_limit_secs,
            )
        except subprocess.TimeoutExpired:
            return 0.0, "wall_clock"
        if done.returncode != 0:
            return 0.0, "exited"
        reward = worth(done.stdout)
        return reward, "passed" if reward == 1.0 else "wrong_answer"
