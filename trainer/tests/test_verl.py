"""verl's reward function: the same keys on each path, and an infrastructure fault by its name."""

import asyncio
import inspect
import os
import tempfile
import unittest

from paddock import defaults
from paddock.verl import compute_score, compute_score_async
from paddock import scoring
from peer import KEY, Peer, changed, raw, status

TESTS = "assert f()"
scoring.WAIT_BETWEEN_RETRIES_S = 0.01
KEYS = ["score", "infra", "verdict", "cause", "passed", "total"]


def sync(*arguments, **kwargs):
    return compute_score(*arguments, **kwargs)


def by_async(*arguments, **kwargs):
    return asyncio.run(compute_score_async(*arguments, **kwargs))


class VerlTest(unittest.TestCase):
    def peer(self, *script):
        peer = Peer(*script)
        self.addCleanup(peer.stop)
        return peer

    def tearDown(self):
        defaults.client.cache_clear()
        defaults.async_client.cache_clear()

    def both(self, expected, *arguments, script=(), **kwargs):
        for function in (sync, by_async):
            with self.subTest(function.__name__):
                kwargs["socket"] = self.peer(*script).socket
                told = function(*arguments, **kwargs)
                self.assertEqual(list(told), KEYS)
                self.assertIsInstance(told["score"], float)
                for key, value in expected.items():
                    self.assertEqual(told[key], value)

    def test_a_verdict_is_its_score(self):
        self.both(
            {
                "score": 1.0,
                "infra": 0,
                "verdict": "pass",
                "cause": "passed",
                "passed": 1,
                "total": 1,
            },
            "source",
            "```python\nright\n```",
            TESTS,
        )
        self.both(
            {"score": 0.0, "infra": 0, "verdict": "fail", "cause": "wrong_answer"},
            "source",
            "wrong",
            TESTS,
            extra_info={"entry_point": "f"},
        )

    def test_a_fault_has_the_same_keys_and_says_infra(self):
        table = [
            ("unavailable", {"script": [raw(b"")] * 99, "timeout": 0.3}, TESTS),
            ("forbidden", {"script": [status(403, "forbidden")]}, TESTS),
            (
                "forged",
                {"script": [changed(code_hash="0" * 64)], "key_file": self.key_file()},
                TESTS,
            ),
            (
                "tests_unusable",
                {"script": [changed(verdict="invalid", reward=None, cause="tests_unusable")]},
                TESTS,
            ),
            ("invalid_request", {}, {"no": "tests"}),
            ("invalid_request", {}, None),
            ("client_error", {"key_file": "/does/not/exist"}, TESTS),
            ("client_error", {"retries": "many"}, TESTS),
        ]
        for cause, kwargs, tests in table:
            with self.subTest(cause):
                self.both(
                    {"score": 0.0, "infra": 1, "verdict": "invalid", "cause": cause},
                    "source",
                    "right",
                    tests,
                    **kwargs,
                )

    def test_what_cannot_be_asked_about_is_logged_with_its_reason(self):
        peer = self.peer()
        for reason, kwargs, tests in (
            ("/does/not/exist", {"key_file": "/does/not/exist"}, TESTS),
            ("NoneType", {}, None),
        ):
            with self.subTest(reason), self.assertLogs("paddock", "ERROR") as logs:
                compute_score("source", "right", tests, socket=peer.socket, **kwargs)
            self.assertIn("no verdict for 1 of 1 samples", logs.output[0])
            self.assertIn(reason, logs.output[0])

    def key_file(self):
        path = os.path.join(tempfile.mkdtemp(dir="/var/tmp", prefix="paddock-key-"), "key")
        with open(path, "w", encoding="ascii") as file:
            file.write(KEY.hex() + "\n")
        self.addCleanup(lambda: (os.unlink(path), os.rmdir(os.path.dirname(path))))
        return path

    def test_a_fault_that_passes_is_not_reported(self):
        fault = changed(verdict="invalid", reward=None, cause="host_overloaded")
        self.both({"score": 1.0, "infra": 0}, "source", "right", TESTS, script=[fault, fault])

    def test_a_fault_that_stays_is_reported_after_the_retries(self):
        peer = self.peer()
        told = compute_score("s", "absent", TESTS, socket=peer.socket, retries=1)
        self.assertEqual((told["infra"], told["cause"]), (1, "host_overloaded"))
        self.assertEqual(len(peer.requests), 2)
        self.assertEqual(len({request.json["request_id"] for request in peer.requests}), 2)

    def test_verls_own_arguments_are_left_alone(self):
        self.both(
            {"score": 1.0},
            data_source="s",
            solution_str="right",
            ground_truth=TESTS,
            extra_info={"num_turns": 3},
            reward_router_address="x",
            reward_model_tokenizer=None,
        )

    def test_its_configuration_reaches_the_daemon(self):
        peer = self.peer()
        compute_score(
            "s",
            "right",
            '{"inputs": ["1"], "outputs": ["2"]}',
            socket=peer.socket,
            profile="SEALED",
            scoring="all",
            limits={"wall_seconds": 2},
            language="cpp",
            extract=lambda text: "int " + text,
        )
        body = peer.requests[0].json
        self.assertEqual((body["profile"], body["scoring"]), ("SEALED", "all"))
        item = body["items"][0]
        self.assertEqual(
            (item["language"], item["limits"], item["code"]),
            ("cpp", {"wall_seconds": 2}, "int right"),
        )
        self.assertEqual(item["tests"]["kind"], "stdio")

    def test_one_is_async_and_one_is_not(self):
        self.assertFalse(inspect.iscoroutinefunction(compute_score))
        self.assertTrue(inspect.iscoroutinefunction(compute_score_async))


if __name__ == "__main__":
    unittest.main()
