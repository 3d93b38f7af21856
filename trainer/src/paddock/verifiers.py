"""Rewards for verifiers (and prime-rl): a fault raises InfrastructureError. verifiers v1 records it
on the trace, and prime-rl drops such a trace.

A legacy Rubric turns any exception into 0.0. There the fault is left in the rollout's state as well:
state["paddock_infra"] and state["paddock_cause"], for whoever filters the rollouts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from . import defaults
from .async_client import AsyncClient
from .errors import InfrastructureError
from .extract import last_code_block
from .from_dataset import field_of
from .options import Options
from .scoring import Extract, Sample, Scorer

if TYPE_CHECKING:
    from typing_extensions import Unpack

RETRIES = 3


async def score(
    completion: object,
    tests: object,
    *,
    client: AsyncClient | None = None,
    entry_point: str | None = None,
    extract: Extract = last_code_block,
    language: str = "python",
    limits: Mapping[str, int | float | str] | None = None,
    retries: int = RETRIES,
    **options: Unpack[Options],
) -> float:
    """The reward of one completion (text or messages), to be called from a reward of your own.
    Without a client: the daemon of $PADDOCK_TRAINER_SOCKET, with the key in $PADDOCK_KEY_FILE."""
    client = client or defaults.async_client()
    scorer = Scorer(
        extract=extract, language=language, limits=limits, retries=retries, options=options
    )
    verdict = (await scorer.judge_async(client, [Sample(completion, tests, entry_point)]))[0]
    if verdict.reward is None:
        raise InfrastructureError(verdict.cause, verdict.detail)
    return verdict.reward


def reward(
    client: AsyncClient | None = None,
    *,
    tests_field: str = "tests",
    entry_point_field: str = "entry_point",
    extract: Extract = last_code_block,
    language: str = "python",
    limits: Mapping[str, int | float | str] | None = None,
    retries: int = RETRIES,
    name: str = "correctness",
    **options: Unpack[Options],
) -> Callable[..., Awaitable[float]]:
    """An async reward function that verifiers calls, v1 and legacy alike. The tests are the field
    `tests_field` of the task's data (v1) or of `info` (legacy); in legacy, else `answer`."""

    async def function(
        trace: Any = None,
        task: Any = None,
        completion: Any = None,
        info: Any = None,
        answer: Any = None,
        state: Any = None,
    ) -> float:
        if trace is not None:
            completion, source = trace.last_reply, task
        else:
            source = info
        tests = field_of(source, tests_field)
        if tests is None and trace is None:
            tests = answer
        try:
            return await score(
                completion,
                tests,
                client=client,
                entry_point=field_of(source, entry_point_field),
                extract=extract,
                language=language,
                limits=limits,
                retries=retries,
                **options,
            )
        except InfrastructureError as error:
            if isinstance(state, MutableMapping):
                state["paddock_infra"] = True
                state["paddock_cause"] = str(error)
            raise

    function.__name__ = function.__qualname__ = name
    return function


# To be named in a configuration: fn = "paddock.verifiers:correctness".
correctness = reward()
