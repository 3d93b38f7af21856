"""Reward functions for TRL's trainers (GRPOTrainer and the others that take reward_funcs).

TRL turns None into NaN and leaves the sample out of its group's baseline: that is what a sample
without a verdict needs. It does not catch what a reward function raises, so these raise nothing,
with one exception that is meant to end the training: TooManyInvalid.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from .async_client import AsyncClient
from .client import Client
from .errors import TooManyInvalid
from .extract import last_code_block
from .options import Options, options_json
from .scoring import Extract, Sample, Scorer
from .verdict import Verdict

if TYPE_CHECKING:
    from typing_extensions import Unpack

log = logging.getLogger("paddock")

Rewards = list["float | None"]
RewardFunction = Callable[..., Rewards]
AsyncRewardFunction = Callable[..., Awaitable[Rewards]]

STOP_AFTER_INVALID = 100  # samples; more than a group has, or one bad row ends the training


@overload
def reward(
    client: Client,
    *,
    tests_column: str = ...,
    entry_point_column: str = ...,
    extract: Extract = ...,
    language: str = ...,
    limits: Mapping[str, int | float | str] | None = ...,
    integrity: str | None = ...,
    retries: int = ...,
    stop_after_invalid: int | None = ...,
    timeout: float | None = ...,
    name: str = ...,
    **options: Unpack[Options],
) -> RewardFunction: ...


@overload
def reward(
    client: AsyncClient,
    *,
    tests_column: str = ...,
    entry_point_column: str = ...,
    extract: Extract = ...,
    language: str = ...,
    limits: Mapping[str, int | float | str] | None = ...,
    integrity: str | None = ...,
    retries: int = ...,
    stop_after_invalid: int | None = ...,
    timeout: float | None = ...,
    name: str = ...,
    **options: Unpack[Options],
) -> AsyncRewardFunction: ...


def reward(
    client: Client | AsyncClient,
    *,
    tests_column: str = "tests",
    entry_point_column: str = "entry_point",
    extract: Extract = last_code_block,
    language: str = "python",
    limits: Mapping[str, int | float | str] | None = None,
    integrity: str | None = None,
    retries: int = 1,
    stop_after_invalid: int | None = STOP_AFTER_INVALID,
    timeout: float | None = None,
    name: str = "paddock_reward",
    **options: Unpack[Options],
) -> RewardFunction | AsyncRewardFunction:
    """The reward of each completion: the verdict's, or None if it is invalid. With an AsyncClient an
    async function, which TRL runs beside its other async ones.

    `tests_column`: of the data set; anything that paddock.from_dataset.tests_from takes.
    `entry_point_column`: the name of the function to test, for tests that are Python source; the
    column need not exist. `extract`: from a completion's text to the code.

    After `stop_after_invalid` samples in a row without a verdict (None: never) TooManyInvalid is
    raised, with the last cause. It leaves trainer.train(); save a checkpoint there if you want one.
    With several processes each counts its own samples, and the others wait for the one that has
    stopped until their collective times out, as with any exception.
    """
    options_json(options)
    scorer = Scorer(extract, language, limits, integrity, retries, timeout, options)
    streak = InvalidStreak(stop_after_invalid)

    def samples(prompts: object, completions: object, columns: Mapping[str, Any]) -> list[Sample]:
        tests = columns.get(tests_column)
        if tests is None:
            log.error("the data set has no column %r", tests_column)
        return samples_of(prompts, completions, tests, columns.get(entry_point_column))

    def finish(verdicts: list[Verdict], columns: Mapping[str, Any]) -> Rewards:
        report(verdicts, columns)
        streak.count(verdicts)
        return [verdict.reward for verdict in verdicts]

    if isinstance(client, AsyncClient):
        async_client = client

        async def async_function(
            prompts: object = None, completions: object = None, **columns: Any
        ) -> Rewards:
            asked = samples(prompts, completions, columns)
            return finish(await scorer.judge_async(async_client, asked), columns)

        async_function.__name__ = async_function.__qualname__ = name
        return async_function

    sync_client = client

    def function(prompts: object = None, completions: object = None, **columns: Any) -> Rewards:
        asked = samples(prompts, completions, columns)
        return finish(scorer.judge(sync_client, asked), columns)

    function.__name__ = function.__qualname__ = name
    return function


def samples_of(
    prompts: object, completions: object, tests: object, entry_points: object
) -> list[Sample]:
    """One for each completion, whatever is missing. Equal prompts are one group."""
    completions = completions if isinstance(completions, Sequence) else []
    groups: dict[str, str] = {}
    samples = []
    for index, completion in enumerate(completions):
        prompt = _at(prompts, index)
        group = None
        if prompt is not None:
            group = groups.setdefault(
                json.dumps(prompt, sort_keys=True, default=repr), f"g{len(groups)}"
            )
        entry_point = _at(entry_points, index)
        samples.append(
            Sample(
                completion,
                _at(tests, index),
                entry_point if isinstance(entry_point, str) else None,
                group,
            )
        )
    return samples


def report(verdicts: Sequence[Verdict], columns: Mapping[str, Any]) -> None:
    """To TRL's metrics and its table of completions, if it hands in what takes them."""
    log_metric, log_extra = columns.get("log_metric"), columns.get("log_extra")
    try:
        if callable(log_metric) and verdicts:
            invalid = sum(verdict.is_invalid for verdict in verdicts)
            log_metric("paddock/invalid", invalid / len(verdicts))
            if invalid < len(verdicts):
                passed = sum(verdict.verdict == "pass" for verdict in verdicts)
                log_metric("paddock/pass", passed / (len(verdicts) - invalid))
        if callable(log_extra):
            log_extra("paddock_cause", [verdict.cause for verdict in verdicts])
    except Exception:  # a reward is worth more than its log
        log.exception("the trainer's log")


class InvalidStreak:
    """Counts samples in a row that had no verdict."""

    def __init__(self, stop_after: int | None) -> None:
        if stop_after is not None and stop_after < 1:
            raise ValueError("stop_after_invalid is 1 or more, or None")
        self._stop_after = stop_after
        self._count = 0
        self._lock = threading.Lock()

    def count(self, verdicts: Sequence[Verdict]) -> None:
        """TooManyInvalid if there were so many."""
        with self._lock:
            for verdict in verdicts:
                self._count = self._count + 1 if verdict.is_invalid else 0
                if self._stop_after is not None and self._count >= self._stop_after:
                    raise TooManyInvalid(self._count, verdict.cause, verdict.detail)


def gate(
    correctness: RewardFunction | AsyncRewardFunction,
    *others: RewardFunction | AsyncRewardFunction,
) -> list[RewardFunction | AsyncRewardFunction]:
    """[correctness, *others] for reward_funcs, where a None of `correctness` makes the others' None.

    TRL sums what the functions return and leaves a None out of the sum: without this a sample that
    was not judged would still be scored by its format. `correctness` runs once for each batch,
    whichever function TRL calls first. If one of them is async, all become async.
    """
    for function in (correctness, *others):
        if not callable(function):
            raise TypeError(f"{function!r} is no function: reward models cannot be gated")
    if any(inspect.iscoroutinefunction(function) for function in (correctness, *others)):
        return _gate_async(correctness, others)
    return _gate_sync(correctness, others)


def _gate_sync(
    correctness: Callable[..., Any], others: Sequence[Callable[..., Any]]
) -> list[RewardFunction | AsyncRewardFunction]:
    batches = _Batches(1 + len(others))

    def judged(user: int, **columns: Any) -> Rewards:
        batch = batches.enter(user, columns.get("completions"))
        with batch.lock:
            if batch.rewards is None:
                batch.rewards = list(correctness(**columns))
            return batch.rewards

    def gated(user: int, other: Callable[..., Any]) -> RewardFunction:
        def function(**columns: Any) -> Rewards:
            return _masked(judged(user, **columns), list(other(**columns)))

        named: RewardFunction = _named(function, other)
        return named

    def first(**columns: Any) -> Rewards:
        return list(judged(0, **columns))

    return [_named(first, correctness), *(gated(i + 1, other) for i, other in enumerate(others))]


def _gate_async(
    correctness: Callable[..., Any], others: Sequence[Callable[..., Any]]
) -> list[RewardFunction | AsyncRewardFunction]:
    batches = _Batches(1 + len(others))

    async def judged(user: int, **columns: Any) -> Rewards:
        batch = batches.enter(user, columns.get("completions"))
        if batch.task is None:
            batch.task = asyncio.ensure_future(_awaited(correctness, columns))
        # One function's cancellation is not the others'.
        return await asyncio.shield(batch.task)

    def gated(user: int, other: Callable[..., Any]) -> AsyncRewardFunction:
        async def function(**columns: Any) -> Rewards:
            rewards, others_rewards = await asyncio.gather(
                judged(user, **columns), _awaited(other, columns)
            )
            return _masked(rewards, others_rewards)

        named: AsyncRewardFunction = _named(function, other)
        return named

    async def first(**columns: Any) -> Rewards:
        return list(await judged(0, **columns))

    return [_named(first, correctness), *(gated(i + 1, other) for i, other in enumerate(others))]


async def _awaited(function: Callable[..., Any], columns: Mapping[str, Any]) -> Rewards:
    result = function(**columns)
    return list(await result if inspect.isawaitable(result) else result)


class _Batch:
    def __init__(self, completions: object) -> None:
        self.completions = completions
        self.users: set[int] = set()
        self.rewards: Rewards | None = None
        self.task: asyncio.Future[Rewards] | None = None
        self.lock = threading.Lock()


class _Batches:
    """The batch that the functions of one gate are at: each function enters each batch once, so one
    that comes again, even with the same completions, has begun the next."""

    def __init__(self, users: int) -> None:
        self._users = users
        self._current: _Batch | None = None
        self._lock = threading.Lock()

    def enter(self, user: int, completions: object) -> _Batch:
        with self._lock:
            batch = self._current
            if batch is None or user in batch.users or batch.completions != completions:
                batch = self._current = _Batch(completions)
            batch.users.add(user)
            if len(batch.users) == self._users:
                self._current = None  # all have been; nothing keeps the completions alive
            return batch


def _masked(rewards: Rewards, others: Rewards) -> Rewards:
    if len(rewards) != len(others):
        raise ValueError(f"{len(others)} rewards beside {len(rewards)} of the gate")
    return [None if reward is None else other for reward, other in zip(rewards, others)]


def _named(function: Any, original: Callable[..., Any]) -> Any:
    name = getattr(original, "__name__", type(original).__name__)
    function.__name__ = function.__qualname__ = name
    return function


def _at(column: object, index: int) -> Any:
    if isinstance(column, Sequence) and not isinstance(column, str) and index < len(column):
        return column[index]
    return None
