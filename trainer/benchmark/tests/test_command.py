"""What the command says to bad input. Nothing is run here, and nothing is written."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import made_up

TRIAL = ["run", "--backend", "paddock", "--max-steps", "6", "--device", "cpu"]


def benchmark(*words, **more):
    environment = {**os.environ, **more}
    return subprocess.run(
        [sys.executable, "-m", "benchmark", *map(str, words)],
        capture_output=True, text=True, timeout=100, env=environment,
    )  # fmt: skip


class BadInput(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "out"

    def refused(self, *words, why, code=1, **more):
        done = benchmark(*words, **more)
        self.assertEqual(done.returncode, code, done)
        self.assertRegex(done.stderr, why)
        self.assertNotIn("Traceback", done.stderr)

    def test_a_missing_daemon_is_told_before_anything_is_written(self):
        for socket in (self.folder / "none.sock", self.folder):
            self.refused(
                *TRIAL, "--socket", socket, "--output-dir", self.out,
                why=f"no paddockd answers on {socket}",
            )  # fmt: skip
        self.assertFalse(self.out.exists())

    def test_missing_programs_are_told_with_where_they_were_looked_for(self):
        self.refused(
            *TRIAL, "--bin", self.folder, "--output-dir", self.out,
            why=f"no paddock and paddockd in {self.folder}",
        )  # fmt: skip
        self.refused("setup", "--bin", self.folder, why="no paddock and paddockd in")

    def test_a_directory_with_another_trial_is_left_as_it_is(self):
        made = made_up.trial(self.folder, "paddock", 0, 0.0)
        directory = self.folder / made.name
        before = {path: path.read_bytes() for path in directory.iterdir()}
        self.refused(
            *TRIAL, "--seed", 1, "--output-dir", directory,
            why=f"{directory} has a trial of another configuration",
        )  # fmt: skip
        self.assertEqual({path: path.read_bytes() for path in directory.iterdir()}, before)

    def test_a_trial_that_was_finished_is_not_run_again(self):
        made = made_up.trial(self.folder, "paddock", 0, 0.0)
        done = benchmark(*TRIAL, "--output-dir", self.folder / made.name)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("was finished before; not run again", done.stdout)

    def test_a_directory_of_something_else_is_left_as_it_is(self):
        (self.folder / "thesis.txt").write_text("mine")
        self.refused(*TRIAL, "--output-dir", self.folder, why="holds something else: thesis.txt")
        self.refused("sweep", "--output-dir", self.folder, why="something else than a sweep")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["thesis.txt"])

    def test_a_sweep_of_another_configuration_is_left_as_it_is(self):
        made_up.usual(self.folder)
        before = (self.folder / "sweep.json").read_text()
        self.refused("sweep", "--output-dir", self.folder, why="a sweep of another configuration")
        self.assertEqual((self.folder / "sweep.json").read_text(), before)

    def test_what_is_out_of_range_is_told_by_name(self):
        for option, value, name in (
            ("--adversarial-fraction", "2", "adversarial_fraction"),
            ("--seed", "-1", "seed"),
            ("--max-steps", "0", "steps"),
            ("--time-limit", "nan", "time_limit_secs"),
        ):
            self.refused(
                *TRIAL, option, value, "--output-dir", self.out, why=f"benchmark: {name}: "
            )
        self.assertFalse(self.out.exists())

    def test_an_unknown_backend_or_command_is_usage(self):
        self.refused("run", "--backend", "docker", "--output-dir", self.out, why="docker", code=2)
        self.refused("frobnicate", why="frobnicate", code=2)

    def test_a_gpu_that_is_not_there_is_told(self):
        self.refused(
            *TRIAL, "--device", "cuda", "--output-dir", self.out,
            why="sees no GPU", CUDA_VISIBLE_DEVICES="",
        )  # fmt: skip

    def test_dry_run_prints_24_commands_and_writes_nothing(self):
        done = benchmark("sweep", "--dry-run", "--output-dir", self.out)
        commands = done.stdout.splitlines()
        self.assertEqual(len(set(commands)), 24)
        self.assertTrue(all(" -m benchmark run " in command for command in commands))
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
