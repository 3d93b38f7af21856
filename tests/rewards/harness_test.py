"""The judge and the candidate's side as plain processes: that right code passes, that wrong code
fails, and that no forgery pays. Needs /usr/bin/python3 and no daemon."""

import json
import os
import secrets
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import naive_checker
from forgery import all_forgeries
from mutants import mutants
from two_processes import judged, judged_in_process, naive, reward

WORKERS = max(2, os.cpu_count() or 2)
MUTANTS_OF_EACH = 3
# For code that may never end. The naive checker gets the same, and each side has CPU time of its own.
MUTANT_SECONDS = 6


def in_parallel(function, values):
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(function, values))


def humaneval():
    with open(os.path.join(HERE, "humaneval", "humaneval-even.jsonl")) as file:
        return [json.loads(line) for line in file]


def assert_item(problem):
    return {
        "kind": "assert",
        "source": problem["test"],
        "entry_point": problem["entry_point"],
        "prelude": problem["prompt"],
    }


def by_naive_checker(code, problem):
    given = {"code": code, "source": problem["test"], "entry_point": problem["entry_point"]}
    return naive("exit_status", given, MUTANT_SECONDS)[0] == 0


class HumanEval(unittest.TestCase):
    def test_every_reference_solution_passes_all_of_its_assertions(self):
        def judge(problem):
            code = problem["prompt"] + problem["canonical_solution"]
            return problem["task_id"], judged(code, assert_item(problem))

        for name, (report, ends) in in_parallel(judge, humaneval()):
            with self.subTest(name):
                self.assertEqual(reward(report), 1.0, (report, ends))
                self.assertEqual(ends["candidate"], 0)

    def test_a_mutant_fails_where_it_fails_in_one_interpreter_and_nowhere_else(self):
        def judge(pair):
            problem, code = pair
            report, ends = judged(code, assert_item(problem), wall_seconds=MUTANT_SECONDS)
            return problem["task_id"], code, report, ends, by_naive_checker(code, problem)

        pairs = [
            (problem, code)
            for problem in humaneval()
            for code in mutants(
                problem["prompt"] + problem["canonical_solution"],
                problem["entry_point"],
                MUTANTS_OF_EACH,
            )
        ]
        wrong = 0
        for name, code, report, ends, passes in in_parallel(judge, pairs):
            with self.subTest(name, code=code):
                self.assertIsNotNone(reward(report), (report, ends))
                self.assertEqual(reward(report) == 1.0, passes, (report, ends))
                wrong += not passes
        self.assertGreater(wrong, len(pairs) // 2)

    def test_a_reference_solution_passes_in_process_too(self):
        for problem in humaneval()[:5]:
            with self.subTest(problem["task_id"]):
                code = problem["prompt"] + problem["canonical_solution"]
                report, _ = judged_in_process(code, assert_item(problem))
                self.assertEqual(reward(report), 1.0, report)


class Forgeries(unittest.TestCase):
    def test_none_earns_more_than_its_honest_value_and_none_gets_out_of_having_a_number(self):
        def judge(forgery):
            return forgery, [
                judged(forgery.code, tests, wall_seconds=forgery.seconds)
                for tests in forgery.tests()
            ]

        forgeries = [f for f in all_forgeries() if not f.needs_sandbox and not f.refused]
        self.assertGreater(len(forgeries), 45)
        for forgery, results in in_parallel(judge, forgeries):
            for report, ends in results:
                with self.subTest(forgery.name, tries=forgery.tries):
                    earned = reward(report)
                    self.assertIsNotNone(earned, (report, ends))
                    self.assertLessEqual(earned, forgery.honest, report)
                    self.assertLess(earned, 1.0, report)

    def test_tests_that_a_forgery_could_get_into_are_refused_whatever_the_code(self):
        def judge(pair):
            forgery, code = pair
            return forgery, [judged(code, tests) for tests in forgery.tests()]

        forgeries = [f for f in all_forgeries() if f.refused]
        self.assertGreater(len(forgeries), 4)
        pairs = [(f, code) for f in forgeries for code in (f.code, "def solve(x): return x")]
        for forgery, results in in_parallel(judge, pairs):
            for report, ends in results:
                with self.subTest(forgery.name, tries=forgery.tries):
                    self.assertEqual(report and report["verdict"], "unusable", (report, ends))
                    self.assertIn(forgery.refused, report["detail"])

    def test_each_is_paid_by_the_naive_checkers_that_it_names(self):
        def check(pair):
            forgery, variant = pair
            given = forgery.given(secrets.token_hex(8))
            status, output = naive(variant, given)
            return forgery, variant, status, output, naive_checker.pays(
                variant, given, status, output
            )

        pairs = [(f, variant) for f in all_forgeries() for variant in f.pays]
        for forgery, variant, status, output, paid in in_parallel(check, pairs):
            with self.subTest(forgery.name, variant=variant):
                self.assertTrue(paid, (status, output[-500:]))

    def test_the_naive_checkers_pay_for_right_code_and_not_for_wrong_code(self):
        forgery = next(f for f in all_forgeries() if f.name == "eq_always_true")
        for variant in ("exit_status", "sentinel", "report", "unittest", "rewritten", "timed",
                        "stdout", "files", "pickled"):  # fmt: skip
            for code, pays in (("a + b", True), ("None", False)):
                with self.subTest(variant, code=code):
                    given = forgery.given(secrets.token_hex(8))
                    given["code"] = "def solve(a, b):\n    return %s\n" % code
                    status, output = naive(variant, given)
                    self.assertEqual(
                        naive_checker.pays(variant, given, status, output), pays, output
                    )


if __name__ == "__main__":
    unittest.main()
