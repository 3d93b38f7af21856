"""The baseline: code and checker in one interpreter, a child of the trainer, as trainers do it. The
checker prints which cases were right; the trainer believes the last line."""

from __future__ import annotations

import json
from collections.abc import Callable

from ..samples import Sample
from ..tasks import ENTRY_POINT
from .own_process import OwnProcesses

CHECKER = """
import json
_results = []
for _args, _expected in {cases!r}:
    try:
        _got = {entry_point}(*_args)
        _results.append(bool(_got == _expected) and not isinstance(_got, bool))
    except Exception:
        _results.append(False)
print(json.dumps(_results))
"""


def worth(output: bytes) -> float:
    try:
        results = json.loads(output.splitlines()[-1])
        return sum(1 for right in results if right is True) / len(results)
    except (IndexError, ValueError, TypeError, ZeroDivisionError):
        return 0.0


def checked(sample: Sample) -> tuple[str, Callable[[bytes], float]]:
    checker = CHECKER.format(cases=list(sample.task.cases), entry_point=ENTRY_POINT)
    return sample.code + checker, worth


def in_loop(time_limit_secs: float) -> OwnProcesses:
    return OwnProcesses(checked, time_limit_secs)
