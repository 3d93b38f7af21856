"""A checker that proves its result with a secret word, which it keeps in the interpreter that it
shares with the code. What the code can read, the code can say."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from ..samples import Sample
from ..tasks import ENTRY_POINT
from .own_process import OwnProcesses

CHECKER = """
NONCE = {nonce!r}
_names = {{"__name__": "solution"}}
exec({code!r}, _names)
_right = 0
_cases = {cases!r}
for _args, _expected in _cases:
    try:
        _got = _names[{entry_point!r}](*_args)
        _right += bool(_got == _expected) and not isinstance(_got, bool)
    except Exception:
        pass
print(NONCE, _right / len(_cases))
"""


def checked(sample: Sample) -> tuple[str, Callable[[bytes], float]]:
    nonce = secrets.token_hex(16)
    program = CHECKER.format(
        nonce=nonce, code=sample.code, cases=list(sample.task.cases), entry_point=ENTRY_POINT
    )

    def worth(output: bytes) -> float:
        for line in reversed(output.decode("utf-8", "replace").splitlines()):
            word, _, number = line.partition(" ")
            if word == nonce:
                try:
                    return min(1.0, max(0.0, float(number)))
                except ValueError:
                    return 0.0
        return 0.0

    return program, worth


def forgeable(time_limit_secs: float) -> OwnProcesses:
    return OwnProcesses(checked, time_limit_secs)
