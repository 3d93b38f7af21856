"""What the model learns: eight functions of two numbers, each with cases to train on and cases that
no training sees."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from paddock import CallTests

ENTRY_POINT = "solve"
CASES = 8
CASES_SEED = 20260

Case = tuple[tuple[int, int], int]


@dataclass(frozen=True)
class Task:
    name: str
    function: Callable[[int, int], int]
    solutions: tuple[str, ...]  # in the tokens of policy.py
    cases: tuple[Case, ...]
    held_out: tuple[Case, ...]

    def tests(self, held_out: bool = False) -> CallTests:
        return CallTests.of(ENTRY_POINT, *(self.held_out if held_out else self.cases))


def program(expression: str) -> str:
    """What the model writes is an expression; this is the code that is judged."""
    return f"def {ENTRY_POINT}(a, b):\n    return {expression}\n"


def _cases(rng: random.Random, function: Callable[[int, int], int]) -> tuple[Case, ...]:
    cases: list[Case] = []
    while len(cases) < CASES:
        # Half of them with a < b, so that no constant choice is right for all.
        low, high = sorted((rng.randint(-20, 20), rng.randint(-20, 20)))
        pair = (low, high) if len(cases) % 2 == 0 else (high, low)
        if low != high and 0 not in pair and pair not in [case[0] for case in cases]:
            cases.append((pair, function(*pair)))
    return tuple(cases)


def _task(index: int, name: str, function: Callable[[int, int], int], *solutions: str) -> Task:
    rng = random.Random(CASES_SEED + index)
    return Task(name, function, solutions, _cases(rng, function), _cases(rng, function))


TASKS = (
    _task(0, "add", lambda a, b: a + b, "a + b", "b + a"),
    _task(1, "subtract", lambda a, b: a - b, "a - b", "- b + a"),
    _task(2, "multiply", lambda a, b: a * b, "a * b", "b * a"),
    _task(3, "largest", max, "max( a , b )", "a if b < a else b"),
    _task(4, "smallest", min, "min( a , b )", "a if a < b else b"),
    _task(5, "second", lambda a, b: b, "b", "( b )"),
    _task(6, "double", lambda a, b: 2 * a, "a * 2", "a + a"),
    _task(7, "distance", lambda a, b: abs(a - b), "abs( a - b )", "abs( b - a )"),
)
