"""What the adapters for trainers have in common: completions in, one verdict for each out, and no
exception but those that end a program. What cannot be judged is invalid, with its cause."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .async_client import AsyncClient
from .client import Client
from .errors import ForgedVerdict, RequestRefused, Unavailable
from .extract import last_code_block
from .from_dataset import completion_text, tests_from
from .items import Item
from .options import Options
from .verdict import Verdict

log = logging.getLogger("paddock")

Extract = Callable[[str], "str | bytes"]
WAIT_BETWEEN_RETRIES_S = 1.0


@dataclass(frozen=True)
class Sample:
    completion: object  # text or messages
    tests: object  # anything that tests_from() takes
    entry_point: str | None = None
    group: str | None = None


@dataclass(frozen=True)
class Scorer:
    """How samples become items. `retries`: how often an invalid verdict that may be better next
    time is asked for again, under another request_id."""

    extract: Extract = last_code_block
    language: str = "python"
    limits: Mapping[str, int | float | str] | None = None
    integrity: str | None = None
    retries: int = 1
    timeout: float | None = None
    options: Options = field(default_factory=Options)

    def judge(self, client: Client, samples: Sequence[Sample]) -> list[Verdict]:
        round_ = self._first_round(samples)
        while round_.items:
            try:
                told: Iterable[Verdict] = client.verify(
                    round_.items, timeout=self.timeout, **self.options
                )
            except Exception as error:  # noqa: BLE001 a trainer has nobody who would catch it
                told = verdicts_after(error, round_.items)
            round_.take(told)
            if round_.items:
                time.sleep(round_.wait_s)
        return round_.verdicts

    async def judge_async(self, client: AsyncClient, samples: Sequence[Sample]) -> list[Verdict]:
        round_ = self._first_round(samples)
        while round_.items:
            try:
                told: Iterable[Verdict] = await client.verify(
                    round_.items, timeout=self.timeout, **self.options
                )
            except Exception as error:  # noqa: BLE001
                told = verdicts_after(error, round_.items)
            round_.take(told)
            if round_.items:
                await asyncio.sleep(round_.wait_s)
        return round_.verdicts

    def _first_round(self, samples: Sequence[Sample]) -> _Rounds:
        begun = [self.item(str(i), sample) for i, sample in enumerate(samples)]
        unasked = [one for one in begun if isinstance(one, Verdict)]
        if unasked:
            log_no_verdict(len(unasked), len(begun), unasked[0].cause, unasked[0].detail)
        return _Rounds(begun, self.retries)

    def item(self, item_id: str, sample: Sample) -> Item | Verdict:
        """An invalid verdict if the sample cannot be asked about."""
        try:
            code = self.extract(completion_text(sample.completion))
        except Exception as error:  # noqa: BLE001 `extract` is the user's
            return Verdict.without_number(
                item_id, "extract_failed", f"{type(error).__name__}: {error}", sample.group
            )
        try:
            item = Item(
                id=item_id,
                code=code,
                tests=tests_from(sample.tests, sample.entry_point),
                group=sample.group,
                language=self.language,
                limits=self.limits,
                integrity=self.integrity,
            )
            item.to_json()
            return item
        except Exception as error:  # noqa: BLE001 data sets hold anything
            return Verdict.without_number(item_id, "invalid_request", str(error), sample.group)


class _Rounds:
    """Which items are still to be asked about."""

    def __init__(self, begun: Sequence[Item | Verdict], retries: int) -> None:
        self.verdicts = [
            one if isinstance(one, Verdict) else Verdict.without_number(one.id, "unavailable", "")
            for one in begun
        ]
        self.items = [one for one in begun if isinstance(one, Item)]
        self.wait_s = WAIT_BETWEEN_RETRIES_S
        self._retries = retries
        self._round = 0

    def take(self, told: Iterable[Verdict]) -> None:
        by_id = {verdict.id: verdict for verdict in told}
        for item in self.items:
            self.verdicts[int(item.id)] = by_id[item.id]
        self.items = [item for item in self.items if by_id[item.id].is_transient]
        self.wait_s = WAIT_BETWEEN_RETRIES_S * 2**self._round
        self._round += 1
        if self._round > self._retries:
            self.items = []


def verdicts_after(error: Exception, items: Sequence[Item]) -> list[Verdict]:
    """For each item one: what was received before `error`, and for the others `error` as cause."""
    received = {verdict.id: verdict for verdict in getattr(error, "received", ())}
    cause, detail = _cause_of(error), str(error)
    log_no_verdict(len(items) - len(received), len(items), cause, detail)
    return [
        received.get(item.id) or Verdict.without_number(item.id, cause, detail, item.group)
        for item in items
    ]


def log_no_verdict(without: int, of: int, cause: str, detail: str) -> None:
    log.error("no verdict for %d of %d samples: %s: %s", without, of, cause, detail)


def _cause_of(error: Exception) -> str:
    if isinstance(error, Unavailable):
        return "unavailable"
    if isinstance(error, ForgedVerdict):
        return "forged"
    if isinstance(error, RequestRefused):
        return error.code
    return "client_error"
