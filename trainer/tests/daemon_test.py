"""The package against the real daemon: daemon_test.py PADDOCKD [unittest's arguments]."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
HUMANEVAL = os.path.join(HERE, "../../tests/rewards/humaneval/humaneval-even.jsonl")
HUMANEVAL_SAMPLES = 12
START_SECONDS = 60
PADDOCKD = ""

from paddock import (
    AssertTests,
    AsyncClient,
    CallCase,
    CallTests,
    Client,
    FeedGroup,
    FeedVerdict,
    ForgedVerdict,
    Item,
    RequestRefused,
    StdioTests,
)
from paddock.extract import code_blocks
from paddock.trl import gate, reward
from paddock.verl import compute_score


class Daemon:
    def __init__(self):
        # Not below /tmp, which the sandbox has for itself.
        self.folder = tempfile.mkdtemp(prefix="paddock-trainer-", dir="/var/tmp")
        os.chmod(self.folder, 0o711)
        self.socket = os.path.join(self.folder, "run", "trainer.sock")
        self.process = None
        self.start()

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [
                    PADDOCKD,
                    "--runtime-dir",
                    f"{self.folder}/run",
                    "--state-dir",
                    f"{self.folder}/state",
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def wait(self):
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self.process.poll() is None:
            try:
                with Client(self.socket) as client:
                    return client.health()
            except Exception:
                time.sleep(0.05)
        raise RuntimeError("the daemon did not start: " + self.log())

    def log(self):
        with open(os.path.join(self.folder, "log"), errors="replace") as log:
            return log.read()[-8000:]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def operate(self, method, target, body):
        connection = http.client.HTTPConnection("paddock", timeout=30)
        connection.sock = socket.socket(socket.AF_UNIX)
        try:
            connection.sock.connect(os.path.join(self.folder, "run", "paddock.sock"))
            connection.request(method, target, json.dumps(body))
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        log = self.log()
        shutil.rmtree(self.folder, ignore_errors=True)
        if status != 0:
            raise AssertionError(f"the daemon ended with {status}: {log}")


def humaneval():
    with open(HUMANEVAL, encoding="utf-8") as file:
        return [json.loads(line) for line in file][:HUMANEVAL_SAMPLES]


def fenced(code):
    return f"Here you are:\n```python\n{code}\n```\n"


class DaemonTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.stop)
        self.daemon.wait()

    def client(self, **arguments):
        client = Client(self.daemon.socket, **{"timeout": 120.0, **arguments})
        self.addCleanup(client.close)
        return client

    def test_trls_reward_tells_humanevals_solutions_from_broken_ones(self):
        problems = humaneval()
        solutions = [fenced(p["prompt"] + p["canonical_solution"]) for p in problems]
        broken = [fenced(p["prompt"] + "    return None\n") for p in problems]
        columns = {
            "prompts": [p["prompt"] for p in problems] * 2,
            "completions": solutions + broken,
            "test": [p["test"] for p in problems] * 2,
            "entry_point": [p["entry_point"] for p in problems] * 2,
        }
        correct, style = gate(
            reward(self.client(), tests_column="test", scoring="all"),
            lambda completions, **_: [0.5] * len(completions),
        )
        self.assertEqual(correct(**columns), [1.0] * len(problems) + [0.0] * len(problems))
        self.assertEqual(style(**columns), [0.5] * 2 * len(problems))

    def test_each_kind_of_tests_is_judged(self):
        code = "def f(x):\n    return (x[0], {x[1]: b'a'}, {3}, 0.1 + 0.2, 'é\u2028', 2 ** 70)\n"
        value = (1, {(2,): b"a"}, {3}, 0.3, "é\u2028", 2**70)
        near = {"float": 1e-9}
        told = self.client().verify(
            [
                Item("call", code, CallTests("f", [CallCase([(1, (2,))], value, checker=near)])),
                Item("wrong", code, CallTests("f", [CallCase([(1, (2,))], value)])),
                Item("assert", code, AssertTests("assert f((1, 2))[2] == {3}")),
                Item("stdio", "print(input()[::-1])", StdioTests.of(("ab\n", "ba\n"), ("é", "é"))),
                Item("no tests", code, CallTests("f", [])),
                Item("unusable", code, AssertTests("assert f(")),
            ]
        )
        said = {v.id: (v.verdict, v.reward, v.cause) for v in told}
        self.assertEqual(
            said,
            {
                "call": ("pass", 1.0, "passed"),
                "wrong": ("fail", 0.0, "wrong_answer"),
                "assert": ("pass", 1.0, "passed"),
                "stdio": ("pass", 1.0, "passed"),
                "no tests": ("invalid", None, "invalid_request"),
                "unusable": ("invalid", None, "tests_unusable"),
            },
            [v.detail for v in told],
        )

    def test_a_request_of_nothing_but_mistakes_is_refused(self):
        with self.assertRaisesRegex(RequestRefused, "tests.cases"):
            self.client().verify([Item("a", "", CallTests("f", []))])

    def test_a_request_that_will_not_be_served_is_refused(self):
        with self.assertRaisesRegex(RequestRefused, "NOWHERE"):
            self.client().verify([Item("a", "", AssertTests("assert 1"))], profile="NOWHERE")

    def test_with_a_key_verdicts_hold_and_with_another_they_do_not(self):
        status, made = self.daemon.operate("POST", "/v1/keys", {"tenant": ""})
        self.assertEqual(status, 200, made)
        # Every value whose canonical JSON could differ between here and there is in a hash.
        values = [
            0.1,
            1e16,
            123456789012345680.0,
            1e-5,
            1e-4,
            -0.0,
            5e-324,
            2**64,
            -(2**63),
            10**30,
            '\x7f\x01"\\/é\u2028\U0001f600',
            {"b": 1, "a": [None, True]},
            {1: 2},
            (1,),
            {2, 1},
            float("inf"),
            b"\xff",
            [],
        ]
        asked = [
            Item(f"i{n}", "def f(x): return x", CallTests.of("f", ([value], value)), group="g")
            for n, value in enumerate(values)
        ]
        asked += [
            Item("stdio", "print(input())", StdioTests.of(("é\n", "é\n"), checker="tokens")),
            Item("assert", "def f(x): return x", AssertTests("assert f('\x7f') == '\x7f'")),
            Item("surrogate", "def f(x): return '\ud800'", AssertTests("assert f(1) == 1")),
        ]
        for options in ({}, {"scoring": "all", "stop": "first_fail"}):
            told = self.client(key=made["key"]).verify(asked, **options)
            *right, surrogate = told
            self.assertEqual([v.id for v in right if v.verdict != "pass"], [])
            self.assertEqual(surrogate.verdict, "fail")
            self.assertTrue(all(v.mac and v.key_id == made["key_id"] for v in told))
        with self.assertRaises(ForgedVerdict):
            self.client(key=bytes(32)).verify(asked[:1])

    def test_a_daemon_that_dies_within_a_batch_is_waited_for_and_nothing_is_lost(self):
        _, made = self.daemon.operate("POST", "/v1/keys", {"tenant": ""})
        slow = "import time\ntime.sleep(0.4)\ndef f(x): return x + {}\n"
        asked = [
            Item(f"i{n}", slow.format(n % 2), AssertTests("assert f(1) == 2"), group=f"g{n // 4}")
            for n in range(24)
        ]
        client = self.client(key=made["key"])
        told = {}
        for verdict in client.stream(asked, request_id="step-1"):
            self.assertNotIn(verdict.id, told)
            told[verdict.id] = verdict
            if len(told) == 5:
                self.daemon.kill()
                self.daemon.start()
        self.assertEqual(len(told), len(asked))
        restarted = [v.id for v in told.values() if v.cause == "daemon_restart"]
        for n, item in enumerate(asked):
            if item.id not in restarted:
                self.assertEqual(told[item.id].reward, float(n % 2), told[item.id])

        # The same question again, from the ledger, by a client that was not there before.
        again = self.client(key=made["key"]).verify(asked, request_id="step-1")
        self.assertEqual({v.id: v.mac for v in again}, {i: v.mac for i, v in told.items()})

        entries = list(client.feed(0, follow=False))
        verdicts = [e for e in entries if isinstance(e, FeedVerdict) and e.request_id == "step-1"]
        self.assertEqual(
            sorted(e.verdict.id for e in verdicts), sorted(item.id for item in asked), "each once"
        )
        self.assertTrue(all(e.is_authentic for e in verdicts))

    def test_a_reader_of_the_feed_goes_on_across_a_restart(self):
        client = self.client()
        read, done = [], threading.Event()

        def follow():
            for entry in client.feed(0, follow=True):
                read.append(entry)
                if len([e for e in read if isinstance(e, FeedGroup)]) == 6:
                    break
            done.set()

        reader = threading.Thread(target=follow, daemon=True)
        reader.start()
        code = "def f(x): return x + {}"
        for step in range(6):
            if step in (2, 4):
                self.daemon.kill()
                self.daemon.start()
                self.daemon.wait()
            items = [
                Item(f"i{n}", code.format(n), AssertTests("assert f(1) == 2"), group="g")
                for n in range(4)
            ]
            self.client().verify(items, request_id=f"step-{step}")
        self.assertTrue(done.wait(60), [type(e).__name__ for e in read])
        reader.join()
        seqs = [entry.seq for entry in read]
        self.assertEqual(seqs, sorted(set(seqs)))
        verdicts = [(e.request_id, e.verdict.id) for e in read if isinstance(e, FeedVerdict)]
        self.assertEqual(
            sorted(verdicts), [(f"step-{s}", f"i{n}") for s in range(6) for n in range(4)]
        )
        groups = [e.group for e in read if isinstance(e, FeedGroup)]
        self.assertEqual([g.rewards for g in groups], [(0.0, 1.0, 0.0, 0.0)] * 6)
        self.assertEqual([round(a, 3) for a in groups[0].advantages], [-0.5, 1.5, -0.5, -0.5])

    def test_a_daemon_that_is_away_is_no_zero(self):
        self.daemon.kill()
        function = reward(self.client(timeout=1.0))
        self.assertEqual(
            function(prompts=["p"], completions=["def f(): return 1"], tests=["assert f() == 1"]),
            [None],
        )
        told = compute_score(
            "s", "def f(): return 1", "assert f() == 1", socket=self.daemon.socket, timeout=1.0
        )
        self.assertEqual((told["score"], told["infra"], told["cause"]), (0.0, 1, "unavailable"))
        self.daemon.start()
        self.daemon.wait()

    def test_the_first_example_of_the_readme_prints_what_it_says(self):
        with open(os.path.join(HERE, "../README.md"), encoding="utf-8") as file:
            blocks = list(code_blocks(file.read()))
        first = next(n for n, block in enumerate(blocks) if block.language == "python")
        ran = subprocess.run(
            [sys.executable, "-c", blocks[first].code],
            env={**os.environ, "PADDOCK_TRAINER_SOCKET": self.daemon.socket},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        self.assertEqual((ran.stdout, ran.stderr), (blocks[first + 1].code, ""))

    def test_many_at_once_are_judged_through_the_async_client(self):
        import asyncio

        async def run():
            async with AsyncClient(self.daemon.socket, timeout=120.0) as client:
                function = reward(client)
                batch = {
                    "prompts": ["p"] * 8,
                    "completions": ["def f(): return 1", "def f(): return 2"] * 4,
                    "tests": ["assert f() == 1"] * 8,
                }
                return await asyncio.gather(*(function(**batch) for _ in range(4)))

        self.assertEqual(asyncio.run(run()), [[1.0, 0.0] * 4] * 4)


if __name__ == "__main__":
    PADDOCKD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
