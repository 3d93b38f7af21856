"""The backends against each other: the same samples, the same numbers."""

import json
import os
import random
import subprocess
import sys
import time
import unittest

from benchmark import children
from benchmark.advantages import group_relative
from benchmark.backends.paddock import Paddock, connect, daemon_of
from benchmark.containment import contained, programs
from benchmark.daemon import PrivateDaemon
from benchmark.errors import BenchmarkError
from benchmark.policy import FORGERY
from benchmark.processes import descendants
from benchmark.samples import Sample
from benchmark.tasks import TASKS, program
from benchmark.warm_up import expression

SAMPLES = 160
GROUP = 8
# Nothing here takes long: a host that is busy shall not make a difference.
TIME_LIMIT = 20.0

JUDGE = """
import json, sys
from benchmark.backends.forgeable import forgeable
from benchmark.backends.in_loop import in_loop
from benchmark.samples import Sample
own = {"in_loop": in_loop, "forgeable": forgeable}[sys.argv[1]](float(sys.argv[2]))
samples = [Sample(*given) for given in json.loads(sys.argv[3])]
judged = own.judge("x", samples)
print(json.dumps([judged.rewards, judged.advantages]))
"""


def written():
    """What a model might write after its warm-up, and what it should not."""
    rng = random.Random(7)
    samples = []
    for index in range(SAMPLES):
        task = (index // GROUP) % len(TASKS)
        odd = ["a <", "a < b", "max( a", "", "b if a else a", "a * ( b"]
        text = rng.choice(odd) if index % 5 == 0 else expression(rng, TASKS[task], 0.0)
        samples.append(Sample(f"x{index}", task, index // GROUP, program(text)))
    hostile = "import os\nos._exit(0)\n"
    samples[3] = Sample("x3", 0, 0, hostile, "injected")
    return samples


def own(backend, samples):
    given = json.dumps([[s.id, s.task_index, s.group, s.code, s.injected] for s in samples])
    done = subprocess.run(
        contained(
            programs().paddock, [sys.executable, "-c", JUDGE, backend, str(TIME_LIMIT), given]
        ),
        capture_output=True,
    )
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode("utf-8", "replace"))
    return json.loads(done.stdout)


class Backends(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = PrivateDaemon(programs().paddockd)
        cls.addClassCleanup(cls.daemon.close)

    def judged(self, samples):
        backend = Paddock(connect(self.daemon.socket), TIME_LIMIT)
        try:
            return backend.judge(f"test-{os.urandom(4).hex()}", samples)
        finally:
            backend.close()

    def test_give_the_same_rewards_and_advantages(self):
        samples = written()
        paddock = self.judged(samples)
        self.assertGreater(len({*paddock.rewards}), 3)
        for backend in ("in_loop", "forgeable"):
            rewards, advantages = own(backend, samples)
            self.assertEqual(rewards, list(paddock.rewards), backend)
            for one, other, sample in zip(advantages, paddock.advantages, samples):
                if other is None:
                    self.assertIsNone(one, sample)
                else:
                    self.assertAlmostEqual(one, other, delta=1e-12)

    def test_the_feeds_advantages_are_those_of_the_formula(self):
        samples = written()
        judged = self.judged(samples)
        for group in {sample.group for sample in samples}:
            members = [i for i, s in enumerate(samples) if s.group == group and s.injected is None]
            expected = group_relative([judged.rewards[i] for i in members])
            for index, value in zip(members, expected):
                self.assertAlmostEqual(judged.advantages[index], value, delta=1e-12)

    def test_an_injected_sample_is_in_no_group_and_shifts_no_baseline(self):
        right, wrong = program("a + b"), program("a - b")
        quiet = [Sample("r", 0, 0, right), Sample("w", 0, 0, wrong)]
        hostile = [*quiet, Sample("h", 0, 0, "import os\nos._exit(0)\n", "injected")]
        for judged in (self.judged(hostile).advantages, own("in_loop", hostile)[1]):
            self.assertIsNone(judged[2])
            for one, other in zip(judged, self.judged(quiet).advantages):
                self.assertAlmostEqual(one, other, delta=1e-12)

    def test_the_models_own_forgery_is_paid_by_forgeable_alone(self):
        forgery = [Sample("f", 0, 0, program(FORGERY))]
        self.assertEqual(own("forgeable", forgery)[0], [1.0])
        self.assertEqual(own("in_loop", forgery)[0], [0.0])
        self.assertEqual(self.judged(forgery).rewards, [0.0])

    def test_the_daemon_behind_a_socket_is_found(self):
        self.assertIn(daemon_of(self.daemon.socket), descendants(os.getpid()))

    def test_a_socket_that_nobody_answers_on_is_told_by_its_name(self):
        with self.assertRaisesRegex(BenchmarkError, "no paddockd answers on /nonexistent/x.sock"):
            connect("/nonexistent/x.sock")

    def test_a_private_daemon_leaves_nothing(self):
        daemon = PrivateDaemon(programs().paddockd)
        pid = daemon_of(daemon.socket)
        self.assertTrue(daemon.directory.exists())
        daemon.close()
        self.assertFalse(daemon.directory.exists())
        self.assertNotIn(pid, descendants(os.getpid()))

    def test_a_private_daemon_that_cannot_start_says_why(self):
        with self.assertRaisesRegex(BenchmarkError, "paddockd does not start: it said nothing"):
            PrivateDaemon("/bin/false")


class Children(unittest.TestCase):
    def test_end_with_who_started_them(self):
        program = (
            "import os; from benchmark import children\n"
            "child = children.start(['sleep', '600'], stdout=1, stderr=2)\n"
            "print(child.pid, flush=True)\n"
            "os.kill(os.getpid(), 9)"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True)
        pid = int(done.stdout)
        for _ in range(500):
            try:
                with open(f"/proc/{pid}/stat") as file:
                    if file.read().rpartition(")")[2].split()[0] == "Z":
                        break
            except OSError:
                break
            time.sleep(0.01)
        else:
            self.fail("it goes on")


if __name__ == "__main__":
    unittest.main()
