"""verifiers v1: its own scoring of a task calls paddock.verifiers, as a decorated reward and by the
import path of a configuration; a fault is recorded as an error and not as a number."""

import asyncio
import os
import sys

os.environ["PADDOCK_TRAINER_SOCKET"] = sys.argv[1]

import verifiers.v1 as vf  # noqa: E402
from verifiers.v1.configs.task import RewardFunctionConfig, TaskConfig  # noqa: E402
from verifiers.v1.errors import TaskError  # noqa: E402
from verifiers.v1.task import Task, TaskData  # noqa: E402

from paddock import verifiers as paddock_verifiers  # noqa: E402

TESTS = "assert f(1) == 2\nassert f(2) == 3"


class Data(TaskData):
    tests: str
    entry_point: str | None = None


class Trace:
    """What scoring needs of a trace: the last reply, and where numbers go."""

    def __init__(self, reply):
        self.last_reply = reply
        self.metrics, self.rewards = {}, {}

    def record_reward(self, name, value, weight):
        self.rewards[name] = value * weight

    def record_metric(self, name, value):
        self.metrics[name] = value


class Decorated(Task[Data]):
    @vf.reward(weight=2.0)
    async def passes(self, trace):
        return await paddock_verifiers.score(trace.last_reply, self.data.tests)


def plugged():
    return TaskConfig(rewards={"correct": RewardFunctionConfig(fn="paddock.verifiers:correctness")})


def scored(task, reply):
    trace = Trace(reply)
    asyncio.run(task.score(trace))
    return trace.rewards


def main():
    right, half = "```python\ndef f(x): return x + 1\n```", "def f(x): return 2"
    assert scored(Decorated(Data(tests=TESTS)), right) == {"passes": 2.0}
    assert scored(Decorated(Data(tests=TESTS)), half) == {"passes": 1.0}
    assert scored(Task(Data(tests=TESTS), plugged()), right) == {"correct": 1.0}
    assert scored(Task(Data(tests=TESTS), plugged()), half) == {"correct": 0.5}
    for task in (Decorated(Data(tests="assert f(1 == 2")), Task(Data(tests="assert f(1 == 2"), plugged())):
        try:
            raise AssertionError(scored(task, right))
        except TaskError as error:
            assert "InfrastructureError: tests_unusable" in str(error), error
    print("verifiers v1: 6 passed, 0 failed")


main()
