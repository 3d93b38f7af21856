"""A reward function for verl:

    reward:
      custom_reward_function:
        path: pkg://paddock.verl
        name: compute_score
        reward_kwargs: {socket: /run/paddock/trainer.sock, profile: STRICT}

verl reads the keys of the first sample's result and looks them up in all others, so each path has
the same ones. It has no word for "no reward": what could not be judged, after retries, is
{"score": 0.0, "infra": 1}, to be masked or dropped; an honest 0 has "infra": 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from . import defaults
from .client import TIMEOUT_S
from .extract import last_code_block
from .from_dataset import field_of
from .options import Options
from .scoring import Sample, Scorer, log_no_verdict
from .verdict import Verdict

RETRIES = 3
SCORER_KEYS = ("language", "integrity")
OPTION_KEYS = ("profile", "scoring", "stop", "deadline_ms", "cache", "allow_degraded", "warm")
CLIENT_KEYS = ("socket", "url", "token_file", "key_file")


def compute_score(
    data_source: object,
    solution_str: str,
    ground_truth: object,
    extra_info: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> dict[str, Any]:
    """`ground_truth`: the tests, in any form that paddock.from_dataset.tests_from takes.
    `extra_info["entry_point"]`: the function to test, for tests that are Python source.

    Of `kwargs` (verl's reward_kwargs) these are used: socket, or url and token_file; key_file;
    timeout (s); retries; profile, scoring, stop, deadline_ms, cache, allow_degraded, warm;
    language, integrity, limits; extract. verl's own are left alone. Raises nothing."""
    try:
        client = defaults.client(**_client_arguments(kwargs))
        sample = _sample(solution_str, ground_truth, extra_info)
        return result_of(_scorer(kwargs).judge(client, [sample])[0])
    except Exception as error:  # verl does not catch it, and a batch is more than one sample
        return result_of(_configuration_error(error))


async def compute_score_async(
    data_source: object,
    solution_str: str,
    ground_truth: object,
    extra_info: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> dict[str, Any]:
    """As compute_score, without a thread for each sample that waits: for reward managers that await
    (verl's reward loop does)."""
    try:
        client = defaults.async_client(**_client_arguments(kwargs))
        sample = _sample(solution_str, ground_truth, extra_info)
        return result_of((await _scorer(kwargs).judge_async(client, [sample]))[0])
    except Exception as error:
        return result_of(_configuration_error(error))


def result_of(verdict: Verdict) -> dict[str, Any]:
    return {
        "score": 0.0 if verdict.reward is None else verdict.reward,
        "infra": int(verdict.is_invalid),
        "verdict": verdict.verdict,
        "cause": verdict.cause,
        "passed": verdict.passed,
        "total": verdict.total,
    }


def _sample(
    solution_str: str, ground_truth: object, extra_info: Mapping[str, Any] | None
) -> Sample:
    entry_point = field_of(extra_info, "entry_point")
    return Sample(solution_str, ground_truth, entry_point if isinstance(entry_point, str) else None)


def _client_arguments(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    arguments: dict[str, Any] = {key: kwargs[key] for key in CLIENT_KEYS if kwargs.get(key)}
    arguments["timeout"] = float(kwargs.get("timeout") or TIMEOUT_S)
    return arguments


def _scorer(kwargs: Mapping[str, Any]) -> Scorer:
    chosen: dict[str, Any] = {key: kwargs[key] for key in SCORER_KEYS if kwargs.get(key)}
    if kwargs.get("limits"):
        chosen["limits"] = dict(kwargs["limits"])
    options = {key: kwargs[key] for key in OPTION_KEYS if key in kwargs}
    return Scorer(
        extract=kwargs.get("extract") or last_code_block,
        retries=int(kwargs.get("retries", RETRIES)),
        options=cast(Options, options),
        **chosen,
    )


def _configuration_error(error: Exception) -> Verdict:
    verdict = Verdict.without_number("0", "client_error", f"{type(error).__name__}: {error}")
    log_no_verdict(1, 1, verdict.cause, verdict.detail)  # the result has no place for it
    return verdict
