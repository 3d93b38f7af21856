"""A Rubric of verifiers before v1, with a reward of paddock.verifiers among its functions."""

import asyncio
import sys

from verifiers.rubrics.rubric import Rubric

from paddock import AsyncClient
from paddock.verifiers import reward

TESTS = "assert f(1) == 2\nassert f(2) == 3"


async def scored(rubric, reply, info):
    state = {"timing": {"scoring_ms": 0.0, "total_ms": 0.0}}
    score = await rubric.score_rollout(
        prompt=[{"role": "user", "content": "p"}],
        completion=[{"role": "assistant", "content": reply}], answer="", state=state, info=info)
    return score.reward, state


async def main():
    async with AsyncClient(sys.argv[1]) as client:
        rubric = Rubric(funcs=[reward(client)], weights=[1.0])
        right = "```python\ndef f(x): return x + 1\n```"
        number, state = await scored(rubric, right, {"tests": TESTS})
        assert (number, "paddock_infra" in state) == (1.0, False)
        number, state = await scored(rubric, "def f(x): return 2", {"tests": TESTS})
        assert (number, "paddock_infra" in state) == (0.5, False)
        number, state = await scored(rubric, right, {"tests": "assert f(1 == 2"})
        assert (number, state["paddock_infra"]) == (0.0, True)
        assert "tests_unusable" in state["paddock_cause"], state
    print("verifiers legacy: 3 passed, 0 failed")


asyncio.run(main())
