"""From trials to numbers."""

import contextlib
import io
import json
import math
import tempfile
import unittest
from pathlib import Path

import made_up
from benchmark.aggregate import aggregate, summarise
from benchmark.errors import BenchmarkError
from benchmark.results import read
from benchmark.statistics_of import interval, mean, quantile


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Summary(Folder):
    def summary(self):
        return summarise(read(self.folder))

    def test_counts_who_survived_by_backend_and_share(self):
        made_up.usual(self.folder)
        self.assertEqual(
            self.summary()["p3_headline"],
            {"in_loop": {"0": [3, 3], "10": [0, 3]}, "paddock": {"0": [3, 3], "10": [3, 3]}},
        )

    def test_calls_equal_rewards_parity_and_says_whose_weights_are_the_same(self):
        made_up.usual(self.folder)
        parity = self.summary()["quality_parity_guardrail"]
        self.assertEqual(parity["status"], "MET")
        self.assertAlmostEqual(parity["final_reward_in_loop"], 0.93)
        self.assertAlmostEqual(parity["final_reward_paddock"], 0.93)
        self.assertEqual(parity["seeds_with_identical_weights"], 3)

    def test_does_not_call_it_parity_when_one_learns_less_or_with_too_few_seeds(self):
        made = [
            made_up.trial(
                self.folder, backend, seed, 0.0, reward=reward + seed / 100, weights=backend
            )
            for backend, reward in (("in_loop", 0.9), ("paddock", 0.5))
            for seed in range(3)
        ]
        made_up.sweep(self.folder, made)
        parity = self.summary()["quality_parity_guardrail"]
        self.assertEqual(parity["status"], "NOT_MET")
        self.assertEqual(parity["seeds_with_identical_weights"], 0)
        made_up.sweep(self.folder, made[1:])
        self.assertEqual(self.summary()["quality_parity_guardrail"]["status"], "NOT_MEASURED")

    def test_judges_step_times_against_the_goals(self):
        made_up.usual(self.folder)
        summary = self.summary()
        self.assertAlmostEqual(summary["step_time_guardrail"]["worst_mean_ratio"], 1.2)
        self.assertEqual(summary["step_time_guardrail"]["status"], "MET")
        self.assertEqual(summary["overhead_guardrail"]["paddock_to_in_loop"], 0.5)
        self.assertEqual(summary["overhead_guardrail"]["status"], "MET")
        self.assertEqual(summary["step_time_secs"]["in_loop"]["10"]["steps"], 3)

    def test_says_when_the_treatment_is_slower_or_stalls(self):
        made_up.sweep(
            self.folder,
            [
                made_up.trial(self.folder, "in_loop", 0, 0.0, seconds=1.0),
                made_up.trial(self.folder, "paddock", 0, 0.0, seconds=2.0),
                made_up.trial(self.folder, "paddock", 0, 0.1, seconds=2.7),
            ],
        )
        summary = self.summary()
        self.assertEqual(summary["step_time_guardrail"]["status"], "NOT_MET")
        self.assertEqual(summary["overhead_guardrail"]["status"], "NOT_MET")

    def test_adds_up_contagion_and_what_hostile_samples_earned(self):
        made_up.usual(self.folder)
        summary = self.summary()
        self.assertEqual(summary["contagion_events"]["in_loop"], {"0": 0, "10": 3})
        self.assertEqual(summary["containment_guardrail"]["status"], "MET")
        self.assertEqual(summary["reward_integrity"]["in_loop"]["adversarial_reward"], 3.0)
        self.assertEqual(summary["reward_integrity"]["in_loop"]["paid"], ["exit_handler"])
        self.assertEqual(summary["reward_integrity"]["paddock"]["adversarial_injected"], 60)
        self.assertEqual(summary["reward_integrity"]["paddock"]["adversarial_reward"], 0.0)
        self.assertEqual(summary["exit_status"]["in_loop"]["10"], {"Clean(137)": 3})
        self.assertEqual(summary["contained"], {"contained": 6, "runs": 6})

    def test_says_when_the_treatment_was_touched(self):
        made_up.sweep(
            self.folder,
            [made_up.trial(self.folder, "paddock", 0, 0.1, events=[made_up.CANARY])],
        )
        self.assertEqual(self.summary()["containment_guardrail"]["status"], "NOT_MET")

    def test_sets_what_a_forger_is_paid_against_what_it_can_do(self):
        for name in ("survival", "forgery"):
            (self.folder / name).mkdir()
        made_up.usual(self.folder / "survival")
        forging = {"forging": 0.05, "reward": 1.0}
        made_up.sweep(
            self.folder / "forgery",
            [
                made_up.trial(
                    self.folder / "forgery", "forgeable", 0, 0.0, held_out=0.1, **forging
                ),
                made_up.trial(self.folder / "forgery", "paddock", 0, 0.0, held_out=0.9, **forging),
            ],
        )
        study = self.summary()["forgery_study"]
        self.assertEqual(study["forgeable"]["final_reward"], 1.0)
        self.assertEqual(study["forgeable"]["held_out_pass_rate"], 0.1)
        self.assertEqual(study["paddock"]["held_out_pass_rate"], 0.9)
        self.assertEqual(self.summary()["p3_headline"]["paddock"]["0"], [3, 3])

    def test_names_the_trials_that_are_not_over(self):
        made = made_up.usual(self.folder)
        (self.folder / made[0].name / "run_summary.json").unlink()
        self.assertEqual(self.summary()["missing"], [made[0].name])
        with contextlib.redirect_stdout(io.StringIO()):
            aggregate(self.folder, self.folder / "out")
        text = (self.folder / "out" / "summary.md").read_text()
        self.assertIn(f"**Not over yet:** {made[0].name}", text)
        json.loads((self.folder / "out" / "summary.json").read_text())


class BadInput(Folder):
    def test_a_directory_without_a_sweep_or_without_a_finished_trial_is_told(self):
        with self.assertRaisesRegex(BenchmarkError, "has no sweep"):
            read(self.folder)
        with self.assertRaisesRegex(BenchmarkError, "has no sweep"):
            read(self.folder / "none")
        (self.folder / "sweep.json").write_text('{"trials": {"a": {}}}')
        with self.assertRaisesRegex(BenchmarkError, "no trial is over yet"):
            read(self.folder)

    def test_damaged_files_are_told_with_their_place(self):
        made = made_up.usual(self.folder)
        metrics = self.folder / made[0].name / "metrics.jsonl"
        metrics.write_text("{}\n{\n")
        with self.assertRaisesRegex(BenchmarkError, f"{made[0].name}/metrics.jsonl:2 is damaged"):
            read(self.folder)
        (self.folder / made[0].name / "run_summary.json").write_text("{")
        with self.assertRaisesRegex(BenchmarkError, "run_summary.json is damaged"):
            read(self.folder)


class Statistics(unittest.TestCase):
    def test_the_interval_is_students(self):
        low, high = interval([1.0, 2.0, 3.0])
        self.assertAlmostEqual(high - 2.0, 4.303 / math.sqrt(3), places=6)
        self.assertAlmostEqual(2.0 - low, high - 2.0)
        self.assertEqual(interval([0.5] * 3), (0.5, 0.5))
        self.assertIsNone(interval([1.0]))

    def test_of_nothing_there_is_no_mean(self):
        self.assertIsNone(mean([]))
        self.assertIsNone(quantile([], 0.5))
        self.assertEqual(quantile([3.0, 1.0, 2.0], 0.5), 2.0)


if __name__ == "__main__":
    unittest.main()
