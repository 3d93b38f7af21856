"""verifiers' rewards: a number, or an InfrastructureError."""

import asyncio
import inspect
import unittest
from types import SimpleNamespace

from paddock import AsyncClient, InfrastructureError
from paddock.verifiers import correctness, reward, score
from paddock import scoring
from peer import KEY, Peer, changed, raw

TESTS = "assert f()"
scoring.WAIT_BETWEEN_RETRIES_S = 0.01


class VerifiersTest(unittest.TestCase):
    def run_with(self, script, use, timeout=2.0):
        async def once():
            with Peer(*script) as peer:
                async with AsyncClient(peer.socket, key=KEY, timeout=timeout) as client:
                    return await use(client)

        return asyncio.run(once())

    def test_a_plain_call_gives_the_reward(self):
        self.assertEqual(self.run_with([], lambda c: score("right", TESTS, client=c)), 1.0)
        self.assertEqual(self.run_with([], lambda c: score("wrong", TESTS, client=c)), 0.0)

    def test_a_fault_is_raised(self):
        fault = changed(verdict="invalid", reward=None, cause="tests_unusable", detail="line 3")
        table = [
            ([raw(b"")] * 99, "right", TESTS, "unavailable"),
            ([fault], "right", TESTS, "tests_unusable: line 3"),
            ([changed(code_hash="0" * 64)], "right", TESTS, "forged"),
            ([], "right", None, "invalid_request"),
        ]
        for script, code, tests, cause in table:
            with self.subTest(cause), self.assertRaisesRegex(InfrastructureError, cause):
                self.run_with(script, lambda c: score(code, tests, client=c), timeout=0.4)

    def test_in_v1_the_tests_are_the_tasks_and_the_completion_the_traces(self):
        trace = SimpleNamespace(last_reply="```python\nright\n```")
        task = SimpleNamespace(tests=TESTS, entry_point="f")
        self.assertEqual(self.run_with([], lambda c: reward(c)(trace=trace, task=task)), 1.0)
        named = SimpleNamespace(hidden=TESTS)
        self.assertEqual(
            self.run_with([], lambda c: reward(c, tests_field="hidden")(trace=trace, task=named)),
            1.0,
        )

    def test_in_a_legacy_rubric_they_are_in_info_or_the_answer(self):
        said = [{"role": "assistant", "content": "right"}]
        common = {"completion": said, "task": "default", "state": {}}
        self.assertEqual(
            self.run_with([], lambda c: reward(c)(info={"tests": TESTS}, answer="", **common)), 1.0
        )
        self.assertEqual(
            self.run_with([], lambda c: reward(c)(info={}, answer=TESTS, **common)), 1.0
        )

    def test_a_fault_in_a_legacy_rubric_is_in_the_state_too(self):
        state = {}
        with self.assertRaises(InfrastructureError):
            self.run_with(
                [raw(b"")] * 99,
                lambda c: reward(c)(completion="right", info={"tests": TESTS}, state=state),
                timeout=0.3,
            )
        self.assertTrue(state["paddock_infra"])
        self.assertIn("unavailable", state["paddock_cause"])

    def test_the_functions_are_async_named_and_ask_for_what_they_need_by_name(self):
        self.assertTrue(inspect.iscoroutinefunction(correctness))
        self.assertEqual((correctness.__name__, reward(name="r").__name__), ("correctness", "r"))
        self.assertEqual(
            list(inspect.signature(correctness).parameters),
            ["trace", "task", "completion", "info", "answer", "state"],
        )


if __name__ == "__main__":
    unittest.main()
