"""What a policy is really worth: its programs on cases that no training used, judged by paddock,
whatever the training itself was rewarded by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddock import Client, Item, PaddockError

from .backends.paddock import PROFILE
from .errors import BenchmarkError
from .tasks import TASKS, program

ITEMS_MAX = 2000
WALL_SECONDS = 5.0


def pass_rates(
    client: Client, name: str, steps: Sequence[dict[str, Any]]
) -> dict[int, float | None]:
    """For each step's samples, the mean of their held-out rewards."""
    written: dict[int, list[tuple[int, str]]] = {}
    try:
        for step in steps:
            pairs = [(int(task), str(expression)) for task, expression, _ in step["samples"]]
            written[int(step["step"])] = [pair for pair in pairs if 0 <= pair[0] < len(TASKS)]
    except (KeyError, TypeError, ValueError):
        raise BenchmarkError("the trial's samples are damaged") from None
    distinct = sorted({pair for pairs in written.values() for pair in pairs})
    rewards: dict[tuple[int, str], float | None] = {}
    for first in range(0, len(distinct), ITEMS_MAX):
        part = distinct[first : first + ITEMS_MAX]
        items = [
            Item(
                str(index),
                program(expression),
                TASKS[task].tests(held_out=True),
                limits={"wall_seconds": WALL_SECONDS},
            )
            for index, (task, expression) in enumerate(part)
        ]
        try:
            verdicts = client.verify(items, request_id=f"{name}-held-out-{first}", profile=PROFILE)
        except PaddockError as error:
            raise BenchmarkError(f"the held-out cases were not judged: {error}") from None
        rewards.update(zip(part, [verdict.reward for verdict in verdicts]))
    return {step: _mean([rewards[pair] for pair in pairs]) for step, pairs in written.items()}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
