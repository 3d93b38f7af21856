"""verify_bench measures and says what it measured: verify_bench_test.py VERIFY_BENCH

Not how fast anything is."""

import json
import subprocess
import sys
import tempfile
import unittest

BENCH = ""
PROBLEMS = 4
OURS = ("paddock", "subprocess.run", "posix_spawn", "fork")


def bench(*words):
    command = [BENCH, *words, "--competitors", "/nonexistent"]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


class VerifyBench(unittest.TestCase):
    def test_each_row_has_judged_every_problem_or_says_why_it_could_not(self):
        done = bench("rows", "queue", "--rounds", "1", "--concurrency", "2", "--problems",
                     str(PROBLEMS), "--queued", "10", "--json", "-")  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        rows = {row["name"]: row for row in report["rows"]}
        self.assertEqual(rows["go-judge python3 -c"]["missing"], "not installed")
        self.assertNotIn("missing", rows["paddock cold STRICT"])
        for name, row in rows.items():
            with self.subTest(name):
                if "missing" in row:
                    self.assertTrue(row["missing"])
                    continue
                self.assertEqual(row["verifies"], PROBLEMS)
                self.assertLessEqual(0, row["p50_ms"])
                self.assertLessEqual(row["p50_ms"], row["p99_ms"])
                self.assertGreater(row["verifies_per_s"], 0)
                if name.startswith(OURS):
                    self.assertEqual(row["wrong"], 0, done.stderr)
        self.assertEqual([(row["items"], row["wrong"]) for row in report["queue"]], [(1, 0), (10, 0)])
        self.assertEqual(len(report["goals"]), 8)

    def test_a_program_that_is_not_right_counts_as_wrong_in_each_row(self):
        with tempfile.NamedTemporaryFile("w", dir="/var/tmp", suffix=".jsonl") as file:
            problem = {
                "task_id": "one",
                "prompt": 'def one():\n    """One."""\n',
                "canonical_solution": "    return 2\n",
                "test": "def check(candidate):\n    assert candidate() == 1\n",
                "entry_point": "one",
            }
            print(json.dumps(problem), file=file, flush=True)
            done = bench("rows", "--humaneval", file.name, "--rounds", "2", "--concurrency", "1",
                         "--json", "-")  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [row for row in json.loads(done.stdout)["rows"] if "missing" not in row]
        self.assertGreater(len(rows), 5)
        for row in rows:
            with self.subTest(row["name"]):
                self.assertEqual((row["verifies"], row["wrong"]), (2, 2))

    def test_the_table_has_a_line_for_each_goal(self):
        done = bench("queue", "--problems", "1", "--queued", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("goal, of warm runs", done.stdout)
        self.assertEqual(done.stdout.count("not measured"), 8, done.stdout)

    def test_a_part_that_does_not_exist_is_refused_by_name(self):
        done = bench("rowss")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("rowss", done.stdout + done.stderr)

    def test_a_daemon_that_cannot_start_ends_it_with_a_message(self):
        done = bench("queue", "--paddockd", "/bin/false")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the daemon ends at its start", done.stderr)


if __name__ == "__main__":
    BENCH = sys.argv.pop(1)
    unittest.main()
