"""What is answered: verdicts and groups, read from RFC 0010's JSON and checked for its shape."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VERDICTS = ("pass", "fail", "invalid")

# Invalid for now: the same item may be judged well a little later.
TRANSIENT_CAUSES = frozenset(
    {
        "host_overloaded",
        "killed_by_request",
        "shutdown",
        "daemon_restart",
        "internal",
        "judge_failed",
        "deadline",
        "too_busy",
        "not_recorded",
    }
)


@dataclass(frozen=True)
class CaseVerdict:
    verdict: str
    cause: str
    detail: str = ""
    cpu_ms: float | None = None
    wall_ms: float | None = None


@dataclass(frozen=True)
class Verdict:
    """Of one item. `reward` is None if and only if `verdict` is "invalid"."""

    id: str
    verdict: str
    reward: float | None
    cause: str
    detail: str = ""
    group: str | None = None
    passed: int = 0
    total: int = 0
    cases: tuple[CaseVerdict, ...] = ()
    integrity: str = "separate"
    profile: str = ""
    degraded: tuple[str, ...] = ()
    queue_ms: int = 0
    run_ms: int = 0
    stdout_tail: str = ""
    stderr_tail: str = ""
    cached: bool = False
    code_hash: str = ""
    tests_hash: str = ""
    policy_hash: str = ""
    nonce: str = ""
    runs: tuple[str, ...] = ()
    cold_because: str = ""  # of runs that were to be warm; not signed
    by_known_answers: bool = False  # no judge had to run; not signed
    mac: str | None = None
    key_id: str | None = None

    @property
    def is_invalid(self) -> bool:
        return self.reward is None

    @property
    def is_transient(self) -> bool:
        """Invalid, and worth asking again under another request_id."""
        return self.is_invalid and self.cause in TRANSIENT_CAUSES

    @classmethod
    def without_number(
        cls, item_id: str, cause: str, detail: str, group: str | None = None
    ) -> Verdict:
        """What this side says of an item that nobody has judged."""
        return cls(
            id=item_id, verdict="invalid", reward=None, cause=cause, detail=detail, group=group
        )

    @classmethod
    def from_json(cls, answer: Mapping[str, Any]) -> Verdict:
        """Of an answer, or of the feed, which has no cases and no tails. ValueError for anything
        that RFC 0010 would not call either."""
        take = _Taker(answer)
        verdict = take.text("verdict")
        reward = take.number_or_none("reward")
        if verdict not in VERDICTS:
            raise ValueError(f"verdict: {verdict!r} is none of {', '.join(VERDICTS)}")
        if (reward is None) != (verdict == "invalid"):
            raise ValueError(f"reward: {reward!r} does not go with the verdict {verdict}")
        if reward is not None and not 0.0 <= reward <= 1.0:
            raise ValueError(f"reward: {reward!r} is not between 0 and 1")
        isolation = _Taker(take.mapping("isolation") or answer)
        receipt = _Taker(take.mapping("receipt") or answer)
        return cls(
            id=take.text("id"),
            group=take.text_or_none("group") or None,
            verdict=verdict,
            reward=reward,
            cause=take.text("cause"),
            detail=take.text_or_none("detail") or "",
            passed=take.count("passed"),
            total=take.count("total"),
            cases=tuple(_case(case) for case in take.list("cases")),
            integrity=take.text_or_none("integrity") or "",
            profile=isolation.text_or_none("profile") or "",
            degraded=tuple(str(name) for name in isolation.list("degraded")),
            queue_ms=take.count("queue_ms"),
            run_ms=take.count("run_ms"),
            stdout_tail=take.output("stdout_tail"),
            stderr_tail=take.output("stderr_tail"),
            cached=answer.get("cached") is True,
            code_hash=take.text_or_none("code_hash") or "",
            tests_hash=take.text_or_none("tests_hash") or "",
            policy_hash=take.text_or_none("policy_hash") or "",
            nonce=take.text_or_none("nonce") or "",
            runs=tuple(str(run) for run in receipt.list("runs")),
            cold_because=take.text_or_none("cold_because") or "",
            by_known_answers=answer.get("by_known_answers") is True,
            mac=take.text_or_none("mac") or None,
            key_id=take.text_or_none("key_id") or None,
        )


@dataclass(frozen=True)
class Group:
    """The samples of one prompt, when the last of them was judged."""

    request_id: str
    group: str
    ids: tuple[str, ...]
    rewards: tuple[float | None, ...]
    advantages: tuple[float | None, ...] = ()

    @classmethod
    def from_json(cls, answer: Mapping[str, Any]) -> Group:
        take = _Taker(answer)
        return cls(
            request_id=take.text_or_none("request_id") or "",
            group=take.text("group"),
            ids=tuple(str(item_id) for item_id in take.list("ids")),
            rewards=tuple(_number_or_none("rewards", value) for value in take.list("rewards")),
            advantages=tuple(
                _number_or_none("advantages", value) for value in take.list("advantages")
            ),
        )


def _case(value: Any) -> CaseVerdict:
    if not isinstance(value, Mapping):
        raise ValueError("cases: must hold objects")
    take = _Taker(value)
    return CaseVerdict(
        verdict=take.text("verdict"),
        cause=take.text("cause"),
        detail=take.text_or_none("detail") or "",
        cpu_ms=take.number_or_none("cpu_ms"),
        wall_ms=take.number_or_none("wall_ms"),
    )


def _number_or_none(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{name}: must be a number or null")
    return float(value)


class _Taker:
    """Typed reads of one JSON object. What RFC 0010 may add later is left alone."""

    def __init__(self, source: Mapping[str, Any]) -> None:
        self._source = source

    def text(self, name: str) -> str:
        value = self._source.get(name)
        if not isinstance(value, str):
            raise ValueError(f"{name}: must be text")
        return value

    def text_or_none(self, name: str) -> str | None:
        return None if self._source.get(name) is None else self.text(name)

    def output(self, name: str) -> str:
        """Text, or under NAME_base64 bytes that are none: those are shown as \\xNN."""
        encoded = self.text_or_none(name + "_base64")
        if encoded is None:
            return self.text_or_none(name) or ""
        return base64.b64decode(encoded, validate=True).decode("utf-8", "backslashreplace")

    def number_or_none(self, name: str) -> float | None:
        return _number_or_none(name, self._source.get(name))

    def count(self, name: str) -> int:
        value = self._source.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"{name}: must be a whole number")
        return value

    def mapping(self, name: str) -> Mapping[str, Any]:
        value = self._source.get(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise ValueError(f"{name}: must be an object")
        return value

    def list(self, name: str) -> list[Any]:
        value = self._source.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise ValueError(f"{name}: must be an array")
        return value
