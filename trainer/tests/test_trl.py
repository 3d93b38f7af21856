"""TRL's reward functions: its signature, its None, and no exception but one."""

import asyncio
import inspect
import json
import unittest

from paddock import AsyncClient, Client, TooManyInvalid
from paddock.trl import gate, reward
from paddock import scoring
from peer import KEY, Peer, changed, honest, raw, status

TESTS = "assert f()"

scoring.WAIT_BETWEEN_RETRIES_S = 0.01


class Sync:
    def client(self, peer, timeout=3.0):
        client = Client(peer.socket, key=KEY, timeout=timeout)
        self.addCleanup(client.close)
        return client

    def call(self, function, **columns):
        return function(**columns)


class Async:
    def client(self, peer, timeout=3.0):
        return AsyncClient(peer.socket, key=KEY, timeout=timeout)

    def call(self, function, **columns):
        async def once():
            try:
                return await function(**columns)
            finally:
                for client in self.clients:
                    client.close()

        return asyncio.run(once())

    clients = ()

    def make(self, peer, **arguments):
        client = self.client(peer, arguments.pop("client_timeout", 3.0))
        self.clients = (*self.clients, client)
        return reward(client, **arguments)


class Behaviour:
    def peer(self, *script):
        peer = Peer(*script)
        self.addCleanup(peer.stop)
        return peer

    def make(self, peer, **arguments):
        return reward(self.client(peer, arguments.pop("client_timeout", 3.0)), **arguments)

    def batch(self, *completions, **columns):
        return {
            "prompts": ["p"] * len(completions),
            "completions": list(completions),
            "completion_ids": [[1]] * len(completions),
            "trainer_state": object(),
            "tests": [TESTS] * len(completions),
            **columns,
        }

    def test_each_completion_has_its_reward_and_none_where_there_is_no_verdict(self):
        function = self.make(self.peer(), retries=0)
        told = self.call(function, **self.batch("right", "wrong", "absent"))
        self.assertEqual(told, [1.0, 0.0, None])

    def test_the_code_is_taken_out_of_text_and_of_messages(self):
        peer = self.peer()
        said = "Here:\n```python\nright\n```\n"
        function = self.make(peer)
        told = self.call(function, **self.batch(said, [{"role": "assistant", "content": said}]))
        self.assertEqual(told, [1.0, 1.0])
        self.assertEqual([item["code"] for item in peer.requests[0].json["items"]], ["right\n"] * 2)

    def test_columns_options_and_groups_reach_the_daemon(self):
        peer = self.peer()
        function = self.make(
            peer,
            tests_column="test",
            entry_point_column="name",
            profile="SEALED",
            limits={"wall_seconds": 3},
            scoring="all",
            extract=str.upper,
        )
        columns = self.batch("right", "right", "right", test=[TESTS] * 3, name=["f", "f", None])
        columns["prompts"] = [
            [{"role": "user", "content": "p"}],
            [{"role": "user", "content": "p"}],
            "q",
        ]
        self.call(function, **columns)
        body = peer.requests[0].json
        self.assertEqual((body["profile"], body["scoring"]), ("SEALED", "all"))
        self.assertEqual([item["group"] for item in body["items"]], ["g0", "g0", "g1"])
        self.assertEqual(
            [item["tests"].get("entry_point") for item in body["items"]], ["f", "f", None]
        )
        self.assertEqual(body["items"][0]["code"], "RIGHT")
        self.assertEqual(body["items"][0]["limits"], {"wall_seconds": 3})

    def test_it_has_a_name(self):
        self.assertEqual(self.make(self.peer()).__name__, "paddock_reward")
        self.assertEqual(self.make(self.peer(), name="correct").__name__, "correct")

    def test_nothing_that_goes_wrong_is_raised_or_scored(self):
        def broken(_):
            raise RuntimeError("x")

        none = [None, None]
        table = [
            ("the daemon is away", dict(script=[raw(b"")] * 100, client_timeout=0.3), {}, none),
            ("busy", dict(script=[status(429)] * 100, client_timeout=0.3), {}, none),
            ("refused", dict(script=[status(403, "forbidden")]), {}, none),
            ("forged", dict(script=[changed(index=0, code_hash="0" * 64)]), {}, none),
            (
                "garbage",
                dict(script=[raw(b"HTTP/1.1 x\r\n\r\n")] * 9, client_timeout=1.0),
                {},
                none,
            ),
            ("extract raises", dict(extract=broken), {}, none),
            ("extract returns nonsense", dict(extract=lambda _: 3), {}, none),
            ("no column", {}, {"tests": None}, none),
            ("tests are none", {}, {"tests": [None, TESTS]}, [None, 1.0]),
            ("tests are no tests", {}, {"tests": [TESTS, {"x": 1}]}, [1.0, None]),
            ("tests cannot be sent", {}, {"tests": ["assert '\ud800'", TESTS]}, [None, 1.0]),
            ("a short column", {}, {"tests": [TESTS]}, [1.0, None]),
            ("no prompts", {}, {"prompts": None}, [1.0, 1.0]),
            ("the log is broken", {}, {"log_metric": broken, "log_extra": broken}, [1.0, 1.0]),
        ]
        for name, arguments, columns, expected in table:
            with self.subTest(name):
                arguments = dict(arguments)
                peer = self.peer(*arguments.pop("script", []))
                function = self.make(peer, **arguments)
                with self.assertNoLogs("asyncio"):
                    told = self.call(function, **self.batch("right", "right", **columns))
                self.assertEqual(told, expected)

    def test_an_empty_batch_has_no_rewards(self):
        self.assertEqual(
            self.call(self.make(self.peer()), prompts=[], completions=[], tests=[]), []
        )

    def test_an_infrastructure_fault_is_asked_about_once_more_under_another_request(self):
        peer = self.peer(changed(index=1, verdict="invalid", reward=None, cause="daemon_restart"))
        function = self.make(peer)
        self.assertEqual(self.call(function, **self.batch("right", "right")), [1.0, 1.0])
        first, second = (request.json for request in peer.requests)
        self.assertNotEqual(first["request_id"], second["request_id"])
        self.assertEqual([item["id"] for item in second["items"]], ["1"])

    def test_tests_that_are_unusable_are_not_asked_about_again(self):
        peer = self.peer(changed(verdict="invalid", reward=None, cause="tests_unusable"))
        self.assertEqual(self.call(self.make(peer), **self.batch("right")), [None])
        self.assertEqual(len(peer.requests), 1)

    def test_metrics_and_causes_go_to_the_trainers_log(self):
        metrics, extra = [], []
        function = self.make(self.peer(), retries=0)
        self.call(
            function,
            **self.batch(
                "right",
                "wrong",
                "right",
                "absent",
                log_metric=lambda *a: metrics.append(a),
                log_extra=lambda *a: extra.append(a),
            ),
        )
        self.assertEqual(metrics, [("paddock/invalid", 0.25), ("paddock/pass", 2 / 3)])
        self.assertEqual(
            extra, [("paddock_cause", ["passed", "wrong_answer", "passed", "host_overloaded"])]
        )

    def test_so_many_invalid_samples_in_a_row_end_the_training_with_the_last_cause(self):
        function = self.make(self.peer(), stop_after_invalid=4, retries=0)
        self.assertEqual(
            self.call(function, **self.batch("absent", "absent", "absent")), [None] * 3
        )
        self.assertEqual(
            self.call(function, **self.batch("right", "absent", "absent")), [1.0, None, None]
        )
        with self.assertRaises(TooManyInvalid) as caught:
            self.call(function, **self.batch("absent", "absent"))
        self.assertEqual((caught.exception.count, caught.exception.cause), (4, "host_overloaded"))

    def test_without_a_number_it_never_ends_the_training(self):
        function = self.make(self.peer(), stop_after_invalid=None, retries=0)
        for _ in range(3):
            self.assertEqual(self.call(function, **self.batch(*["absent"] * 100)), [None] * 100)

    def test_a_wrong_argument_is_found_when_the_function_is_made(self):
        for wrong, error in [({"stop_after_invalid": 0}, ValueError), ({"profil": "x"}, TypeError)]:
            with self.assertRaises(error):
                self.make(self.peer(), **wrong)


class SyncTrlTest(Sync, Behaviour, unittest.TestCase):
    def test_it_is_not_async(self):
        self.assertFalse(inspect.iscoroutinefunction(self.make(self.peer())))


class AsyncTrlTest(Async, Behaviour, unittest.TestCase):
    def test_it_is_async(self):
        self.assertTrue(inspect.iscoroutinefunction(self.make(self.peer())))


class GateTest(unittest.TestCase):
    def setUp(self):
        self.calls = []

    def correctness(self, completions, **_):
        self.calls.append(list(completions))
        return [None if text == "absent" else float(text == "right") for text in completions]

    @staticmethod
    def format(completions, **_):
        return [0.5] * len(completions)

    @staticmethod
    def length(completions, **_):
        return [None if text == "wrong" else float(len(text)) for text in completions]

    def test_a_none_of_correctness_makes_its_siblings_none(self):
        functions = gate(self.correctness, self.format, self.length)
        batch = ["right", "absent", "wrong"]
        self.assertEqual(
            [f(completions=batch, prompts=[]) for f in functions],
            [[1.0, None, 0.0], [0.5, None, 0.5], [5.0, None, None]],
        )
        self.assertEqual([f.__name__ for f in functions], ["correctness", "format", "length"])

    def test_correctness_runs_once_for_a_batch_in_any_order(self):
        for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
            self.calls.clear()
            functions = gate(self.correctness, self.format, self.length)
            for batch in (["right"], ["absent"], ["absent"]):  # the third is the second again
                for index in order:
                    functions[index](completions=batch)
            self.assertEqual(self.calls, [["right"], ["absent"], ["absent"]])

    def test_a_function_that_is_called_alone_is_never_told_of_the_batch_before(self):
        functions = gate(self.correctness, self.format, self.length)
        for _ in range(3):
            functions[1](completions=["right"])
        self.assertEqual(len(self.calls), 3)

    def test_nothing_is_kept_of_a_batch_that_is_over(self):
        functions = gate(self.correctness, self.format)
        batch = ["right"]
        for function in functions:
            function(completions=batch)
        functions[1](completions=batch)
        self.assertEqual(len(self.calls), 2)

    def test_with_one_async_function_all_are_async(self):
        async def correctness(completions, **columns):
            await asyncio.sleep(0.01)
            return self.correctness(completions, **columns)

        functions = gate(correctness, self.format)
        self.assertTrue(all(map(inspect.iscoroutinefunction, functions)))

        async def once(batch):
            return await asyncio.gather(*(f(completions=batch) for f in functions))

        for _ in range(2):
            self.assertEqual(asyncio.run(once(["right", "absent"])), [[1.0, None], [0.5, None]])
        self.assertEqual(len(self.calls), 2)

    def test_the_deliberate_end_of_a_training_passes_through(self):
        def ends(**_):
            raise TooManyInvalid(3, "unavailable", "x")

        for function in gate(ends, self.format):
            with self.assertRaises(TooManyInvalid):
                function(completions=["a"])

    def test_a_reward_model_cannot_be_gated(self):
        with self.assertRaisesRegex(TypeError, "reward models"):
            gate(self.correctness, "org/model")


class RequestTest(unittest.TestCase):
    def test_the_rewards_are_json_numbers_or_none(self):
        with Peer() as peer, Client(peer.socket) as client:
            told = reward(client, retries=0)(
                prompts=["p"] * 2, completions=["right", "absent"], tests=[TESTS] * 2
            )
            self.assertEqual(json.dumps(told), "[1.0, null]")


if __name__ == "__main__":
    unittest.main()
