"""A short sweep, with what can happen to a long one: it is killed, one of its trials cannot be run, it
goes on. In the end it keeps what the benchmark promises."""

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

FIRST, QUIET = "in_loop_seed0_fraction0", "paddock_seed0_fraction0"
ATTACKED, TREATED = "in_loop_seed0_fraction10", "paddock_seed0_fraction10"
TRIAL_SECONDS = 200
END_SECONDS = 40


class Sweep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name) / "sweep"
        self.mark = f"PADDOCK_BENCHMARK_TEST={secrets.token_hex(8)}"

    def start(self, *words):
        name, value = self.mark.split("=")
        return subprocess.Popen(
            [sys.executable, "-m", "benchmark", *words],
            env={**os.environ, name: value}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def sweep(self):
        process = self.start("sweep", "--quick", "--output-dir", str(self.out))
        out, err = process.communicate(timeout=4 * TRIAL_SECONDS)
        self.assertNotIn("Traceback", err)
        return process.returncode, out, err

    def left(self):
        """Processes that a sweep started, whoever their parent is."""
        found = []
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and self.mark in Path(f"/proc/{name}/environ").read_text():
                    found.append(name)
            except (OSError, UnicodeDecodeError):
                pass
        return found

    def summary(self, trial):
        return json.loads((self.out / trial / "run_summary.json").read_text())

    def wait_for(self, condition, seconds):
        until = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)

    def test_is_killed_goes_on_and_keeps_its_promises(self):
        killed = self.start("sweep", "--quick", "--output-dir", str(self.out))
        first = self.out / FIRST / "run_summary.json"
        self.wait_for(first.exists, TRIAL_SECONDS)
        self.wait_for((self.out / QUIET / "configuration.json").exists, TRIAL_SECONDS)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        self.wait_for(lambda: not self.left(), END_SECONDS)
        self.assertFalse((self.out / QUIET / "run_summary.json").exists())
        done = first.stat().st_mtime_ns

        (self.out / TREATED).mkdir()
        (self.out / TREATED / "thesis.txt").write_text("mine")
        code, _, err = self.sweep()
        self.assertEqual(code, 1, err)
        self.assertRegex(err, r"1/4  in_loop seed 0 0 %: survived, 8 steps, .*\(before\)")
        self.assertIn(f"{TREATED} could not be run: ", err)
        self.assertIn("holds something else: thesis.txt", err)
        finished = {
            trial: (self.out / trial / "run_summary.json").stat().st_mtime_ns
            for trial in (FIRST, QUIET, ATTACKED)
        }

        (self.out / TREATED / "thesis.txt").unlink()
        code, out, err = self.sweep()
        self.assertEqual(code, 0, err)
        self.assertIn("4 trials, 0 broken promises", out)
        for trial, at in finished.items():
            self.assertEqual((self.out / trial / "run_summary.json").stat().st_mtime_ns, at, trial)
        self.assertEqual(first.stat().st_mtime_ns, done)
        self.assertEqual(self.left(), [])

        self.check_what_was_measured()
        self.check_what_is_made_of_it()

    def check_what_was_measured(self):
        for trial in (QUIET, TREATED):
            summary = self.summary(trial)
            self.assertTrue(summary["survived"])
            self.assertEqual(summary["exit_status"], "Clean(0)")
            self.assertEqual(summary["contagion_events"], 0, summary["contagion_kinds"])
            self.assertEqual(summary["injected_reward"], 0)
            self.assertEqual(len((self.out / trial / "metrics.jsonl").read_text().splitlines()), 8)
            self.assertGreater((self.out / trial / "checkpoint_final.pt").stat().st_size, 100_000)
        self.assertGreater(self.summary(TREATED)["injected"], 20)
        attacked = self.summary(ATTACKED)
        self.assertFalse(attacked["survived"])
        self.assertTrue(attacked["contained"], attacked["host_harm"])
        # Whoever ran the code: the same start, and without hostile samples the same end.
        starts = {self.summary(t)["policy_sha256"] for t in (FIRST, QUIET, TREATED, ATTACKED)}
        self.assertEqual(len(starts), 1)
        if self.summary(FIRST)["invalid"] == self.summary(QUIET)["invalid"] == 0:
            self.assertAlmostEqual(
                self.summary(FIRST)["final_reward"],
                self.summary(QUIET)["final_reward"],
                delta=0.2,
            )
        step = json.loads((self.out / TREATED / "metrics.jsonl").read_text().splitlines()[0])
        self.assertIsNone(step["device_utilisation"])
        self.assertEqual(step["device_utilisation_reason"], "the model is on the CPU")

    def check_what_is_made_of_it(self):
        for command in (["aggregate"], ["plot", "--out-dir", str(self.out / "figures")]):
            process = self.start(*command, "--sweep-dir", str(self.out))
            _, err = process.communicate(timeout=TRIAL_SECONDS)
            self.assertEqual(process.returncode, 0, err)
        headline = json.loads((self.out / "summary.json").read_text())["p3_headline"]
        self.assertEqual(headline["paddock"], {"0": [1, 1], "10": [1, 1]})
        self.assertEqual(headline["in_loop"], {"0": [1, 1], "10": [0, 1]})
        self.assertEqual(len(list((self.out / "figures").glob("*.png"))), 4)


class Stopped(unittest.TestCase):
    def test_a_trial_that_is_stopped_leaves_no_summary_and_no_process(self):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            process = subprocess.Popen(
                [sys.executable, "-m", "benchmark", "run", "--backend", "in_loop",
                 "--output-dir", str(out)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            until = time.monotonic() + TRIAL_SECONDS
            while not (out / "metrics.jsonl").exists() and time.monotonic() < until:
                time.sleep(0.05)
            process.terminate()
            _, err = process.communicate(timeout=END_SECONDS)
            self.assertEqual(process.returncode, 130, err)
            self.assertIn("the same command goes on from here", err)
            self.assertTrue((out / "metrics.jsonl").exists())
            self.assertFalse((out / "run_summary.json").exists())


if __name__ == "__main__":
    unittest.main()
