"""The same through the daemon, each run in its sandbox: daemon_test.py PADDOCKD [unittest's arguments].

What needs a sandbox (other processes' memory, signals to the parent) is tried here only."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from forgery import all_forgeries, plain_tests
from mutants import mutants

PADDOCKD = ""
MUTANTS_OF_EACH = 2
START_SECONDS = 20
ANSWER_SECONDS = 540
# A host that is busy with something else says so and gives no number: asked again, with more time.
TRIES = 4
AGAIN = 120
KNOWN_AFTER_MAX = 20


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=ANSWER_SECONDS)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Daemon:
    def __init__(self):
        # Not below /tmp, which the sandbox has for itself.
        self.folder = tempfile.mkdtemp(prefix="paddock-rewards-", dir="/var/tmp")
        os.chmod(self.folder, 0o711)
        self.log = os.path.join(self.folder, "log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [PADDOCKD, "--runtime-dir", self.folder + "/run", "--state-dir", self.folder + "/state"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.socket = self.folder + "/run/paddock.sock"
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                if self.request("GET", "/health")[0] == 200:
                    return
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("the daemon did not start: " + self.text())
            time.sleep(0.05)

    def text(self):
        with open(self.log, errors="replace") as log:
            return log.read()[-8000:]

    def request(self, method, target, body=None):
        connection = Connection(self.socket)
        try:
            connection.request(method, target, body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def verify(self, items, **more):
        body = json.dumps({"items": items, **more}).encode()
        status, text = self.request("POST", "/v1/verify", body)
        if status != 200:
            raise AssertionError("%d %s\n%s" % (status, text[:2000], self.text()))
        return json.loads(text)["items"]

    def verify_patiently(self, items):
        answers = {}
        for _ in range(TRIES):
            for answer in self.verify(items):
                answers[answer["id"]] = answer
            items = [i for i in items if answers[i["id"]]["cause"] == "host_overloaded"]
            if not items:
                break
            for item in items:
                item["limits"]["wall_seconds"] *= 4
        return answers.values()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        text = self.text()
        shutil.rmtree(self.folder, ignore_errors=True)
        if status != 0:
            raise AssertionError("the daemon ended with %d: %s" % (status, text))


class ThroughTheDaemon(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def test_every_reference_solution_of_humaneval_passes_and_mutants_do_not_all(self):
        with open(os.path.join(HERE, "humaneval", "humaneval-even.jsonl")) as file:
            problems = [json.loads(line) for line in file]
        items = []
        for problem in problems:
            reference = problem["prompt"] + problem["canonical_solution"]
            tests = {
                "kind": "assert",
                "source": problem["test"],
                "entry_point": problem["entry_point"],
                "prelude": problem["prompt"],
            }
            for code in [reference, *mutants(reference, problem["entry_point"], MUTANTS_OF_EACH)]:
                name = "%s#%d" % (problem["task_id"], len(items))
                items.append(
                    {
                        "id": name,
                        "group": problem["task_id"],
                        "code": code,
                        "tests": tests,
                        "limits": {"wall_seconds": 10, "cpu_seconds": 5},
                    }
                )
        answers = [*self.daemon.verify_patiently(items)]
        self.assertEqual([a["id"] for a in answers], [i["id"] for i in items])
        seen = set()
        failed = 0
        for answer in answers:
            with self.subTest(answer["id"]):
                self.assertIn(answer["verdict"], ("pass", "fail"), answer)
                if answer["group"] not in seen:
                    seen.add(answer["group"])
                    self.assertEqual(answer["reward"], 1.0, answer)
                failed += answer["verdict"] == "fail"
        self.assertGreater(failed, (len(items) - len(problems)) // 2)
        # Their tests have come three times by now: most have known answers, and the verdicts are the same.
        first = {answer["id"]: answer for answer in answers}
        again = self.daemon.verify_patiently(items[:AGAIN])
        for answer in again:
            with self.subTest(answer["id"]):
                for key in ("verdict", "reward", "cause", "total"):
                    self.assertEqual(answer[key], first[answer["id"]][key], answer)
        known = sum(answer.get("by_known_answers", False) for answer in again)
        self.assertGreater(known, AGAIN // 6)

    def know_answers_to(self, tests):
        """So that the forgeries meet the daemon's questions as well as the judge's."""
        honest = [
            {"id": kind, "code": "def solve(a, b): return a + b", "tests": each}
            for kind, each in tests.items()
        ]
        for _ in range(KNOWN_AFTER_MAX):
            if all(answer.get("by_known_answers") for answer in self.daemon.verify(honest)):
                return
        self.fail("no known answers")

    def test_no_forgery_earns_more_than_its_honest_value_or_gets_out_of_having_a_number(self):
        forgeries = {}
        items = []
        for forgery in all_forgeries():
            for tests in forgery.tests():
                name = "%s.%s" % (forgery.name, tests["kind"])
                forgeries[name] = forgery
                seconds = min(int(forgery.seconds), 10)
                limits = {"wall_seconds": seconds, "cpu_seconds": seconds}
                items.append({"id": name, "code": forgery.code, "tests": tests, "limits": limits})
        self.know_answers_to(plain_tests())
        for answer in self.daemon.verify_patiently(items):
            forgery = forgeries[answer["id"]]
            with self.subTest(answer["id"], tries=forgery.tries):
                if forgery.refused:
                    self.assertEqual(answer["cause"], "tests_unusable", answer)
                    self.assertIn(forgery.refused, answer["detail"])
                    continue
                self.assertEqual(answer["verdict"], "fail", answer)
                self.assertIsNotNone(answer["reward"], answer)
                self.assertLessEqual(answer["reward"], forgery.honest, answer)
                self.assertEqual(answer["integrity"], "separate")


if __name__ == "__main__":
    PADDOCKD = sys.argv.pop(1)
    unittest.main()
