"""What a step hands to its backend, and what it gets back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .tasks import TASKS, Task


@dataclass(frozen=True)
class Sample:
    id: str
    task_index: int
    group: int
    code: str
    injected: str | None = None  # the id of a hostile program of the corpus; no group has it

    @property
    def task(self) -> Task:
        return TASKS[self.task_index]


@dataclass(frozen=True)
class Judgement:
    """In the order of the samples. A reward of None is no number: nobody judged the sample. An
    injected one has a reward, and never an advantage."""

    rewards: Sequence[float | None]
    advantages: Sequence[float | None]
    causes: Sequence[str]


class Backend(Protocol):
    def judge(self, request_id: str, samples: Sequence[Sample]) -> Judgement: ...

    def close(self) -> None: ...
