"""What an observer sees of trials that never trained: programs of this test's own."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from benchmark import observer
from benchmark.configuration import Configuration
from benchmark.errors import BenchmarkError
from benchmark.observer import Observer

STARTED = "import json, os, sys, time\ndef say(**w): os.write(1, json.dumps(w).encode() + b'\\n')\nsay(kind='started', device='cpu')\n"
STEP = "say(kind='step', step=0, reward=0.5, injected=1, injected_reward=0.0, contagion=[])\n"


class ObserverTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def seen(self, program, stall_secs=20.0):
        """The summary of a trial of two steps that runs `program` instead."""
        watched = Observer(self.folder, Configuration("paddock", steps=2), stall_secs)
        with mock.patch.object(watched, "_command", lambda _: [sys.executable, "-c", program]):
            return watched.run(Path("/nonexistent"), None)[1]

    def test_one_that_did_not_do_all_its_steps_has_not_survived(self):
        summary = self.seen(STARTED + STEP + "say(kind='finished')\n")
        self.assertEqual((summary["survived"], summary["exit_status"]), (False, "Clean(0)"))
        self.assertEqual(summary["steps_completed"], 1)

    def test_one_that_did_all_and_has_a_checkpoint_has(self):
        end = "say(kind='checkpoint', data='AAAA')\nsay(kind='finished', policy_sha256='x')\n"
        self.assertTrue(self.seen(STARTED + STEP * 2 + end)["survived"])
        self.assertEqual((self.folder / "checkpoint_final.pt").read_bytes(), b"\0\0\0")
        for but in (
            STARTED + STEP * 2 + end + "sys.exit(3)\n",
            STARTED + STEP + end,
            STARTED + STEP * 2 + end.splitlines()[1],
            STARTED + STEP * 2 + end.splitlines()[0],
        ):
            self.assertFalse(self.seen(but)["survived"], but)

    def test_one_that_says_nothing_any_more_is_ended_as_a_timeout(self):
        summary = self.seen(STARTED + STEP + "time.sleep(600)\n", stall_secs=0.5)
        self.assertEqual((summary["exit_status"], summary["survived"]), ("Timeout", False))
        self.assertLess(summary["wall_time_secs"], 30)

    def test_one_that_ignores_being_ended_is_killed(self):
        deaf = "import signal; signal.signal(15, signal.SIG_IGN)\n"
        with mock.patch("benchmark.children.GRACE_SECONDS", 0.5):
            summary = self.seen(STARTED + deaf + "time.sleep(600)\n", stall_secs=0.5)
        self.assertEqual(summary["exit_status"], "Timeout")

    def test_one_that_is_killed_is_told_by_its_signal(self):
        summary = self.seen(STARTED + STEP + "os.kill(os.getpid(), 9)\n")
        self.assertEqual(summary["exit_status"], "Clean(137)")

    def test_words_that_are_not_the_trials_are_contagion(self):
        summary = self.seen(STARTED + STEP + "print('step 0: reward 1.0')\n")
        self.assertEqual((summary["contagion_events"], summary["foreign_lines"]), (1, 1))

    def test_one_that_floods_its_record_is_ended(self):
        summary = self.seen(STARTED + "while True: os.write(1, b'x' * 65536)\n")
        self.assertEqual(summary["exit_status"], "Timeout")

    def test_one_that_never_trained_is_no_result(self):
        with self.assertRaisesRegex(BenchmarkError, "did not start to train: no torch"):
            self.seen("import sys; sys.exit('no torch')")

    def test_a_slow_start_is_no_stall(self):
        program = "import time; time.sleep(1.5)\n" + STARTED + STEP
        self.assertEqual(self.seen(program, stall_secs=1.0)["exit_status"], "Clean(0)")
        with mock.patch.object(observer, "START_SECONDS", 0.5):
            with self.assertRaisesRegex(BenchmarkError, "did not start to train"):
                self.seen(program, stall_secs=0.5)


if __name__ == "__main__":
    unittest.main()
