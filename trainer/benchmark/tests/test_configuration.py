"""What a trial is, its name, and what a sweep plans."""

import unittest

from benchmark.configuration import Configuration
from benchmark.errors import BenchmarkError
from benchmark.sweep import broken_promises, plan

TRIAL = Configuration("paddock")


class ConfigurationTest(unittest.TestCase):
    def test_is_the_same_after_a_way_through_json(self):
        trial = Configuration("in_loop", seed=3, adversarial_fraction=0.05)
        self.assertEqual(Configuration.from_json(trial.to_json()), trial)

    def test_refuses_what_is_out_of_range_by_name(self):
        for field, value in (
            ("backend", "other"), ("seed", -1), ("seed", True), ("steps", 0), ("steps", 1.5),
            ("group_size", 1), ("adversarial_fraction", 1.01), ("adversarial_fraction", "1"),
            ("adversarial_fraction", float("nan")), ("time_limit_secs", 0.0),
            ("forging_fraction", 0.9), ("trainer", "ppo"),
        ):  # fmt: skip
            with self.subTest(field=field, value=value):
                with self.assertRaisesRegex(BenchmarkError, f"^{field}: "):
                    Configuration(**{"backend": "paddock", field: value})

    def test_refuses_a_key_that_it_does_not_know_and_one_without_a_backend(self):
        for value in ({"backend": "paddock", "sed": 1}, {"seed": 1}):
            with self.assertRaisesRegex(BenchmarkError, "no configuration"):
                Configuration.from_json(value)

    def test_is_named_by_what_differs_in_a_sweep(self):
        self.assertEqual(
            Configuration("in_loop", seed=2, adversarial_fraction=0.01).name,
            "in_loop_seed2_fraction1",
        )
        names = {trial.name for trial in plan("survival", TRIAL, quick=False)}
        names |= {trial.name for trial in plan("forgery", TRIAL, quick=False)}
        self.assertEqual(len(names), 30)


class Plan(unittest.TestCase):
    def test_is_two_backends_three_seeds_four_fractions(self):
        trials = plan("survival", TRIAL, quick=False)
        self.assertEqual(len(trials), 24)
        self.assertEqual({t.backend for t in trials}, {"in_loop", "paddock"})
        self.assertEqual({t.adversarial_fraction for t in trials}, {0.0, 0.01, 0.05, 0.1})

    def test_gives_both_backends_the_same_but_for_the_backend(self):
        trials = plan("survival", TRIAL, quick=False)
        settings = {
            backend: [{**t.to_json(), "backend": ""} for t in trials if t.backend == backend]
            for backend in ("in_loop", "paddock")
        }
        self.assertEqual(settings["in_loop"], settings["paddock"])

    def test_computes_on_the_same_device_for_both(self):
        self.assertEqual({t.device for t in plan("survival", TRIAL, quick=False)}, {"cpu"})

    def test_quick_is_no_and_the_most_hostile_samples(self):
        trials = plan("survival", TRIAL, quick=True)
        self.assertEqual(sorted({t.adversarial_fraction for t in trials}), [0.0, 0.1])
        self.assertEqual(len(trials), 4)


class Promises(unittest.TestCase):
    GOOD = {"survived": True, "contagion_events": 0, "injected_reward": 0.0, "contained": True}

    def broken(self, backend, fraction, **changed):
        trial = Configuration(backend, adversarial_fraction=fraction)
        return broken_promises(trial, {**self.GOOD, **changed})

    def test_hold_for_a_treatment_that_lives_untouched_and_unpaid(self):
        self.assertEqual(self.broken("paddock", 0.1, contained=None), [])

    def test_are_broken_by_a_death_by_contagion_and_by_pay(self):
        self.assertEqual(len(self.broken("paddock", 0.1, survived=False)), 1)
        self.assertEqual(len(self.broken("paddock", 0.1, contagion_events=1)), 1)
        self.assertEqual(len(self.broken("paddock", 0.1, injected_reward=0.5)), 1)
        self.assertEqual(len(broken_promises(Configuration("paddock"), {})), 3)

    def test_want_the_baseline_to_die_of_hostile_samples_and_of_nothing_else(self):
        self.assertEqual(self.broken("in_loop", 0.1, survived=False), [])
        self.assertEqual(len(self.broken("in_loop", 0.1)), 1)
        self.assertEqual(self.broken("in_loop", 0.0), [])
        self.assertEqual(len(self.broken("in_loop", 0.0, survived=False)), 1)
        self.assertEqual(len(self.broken("in_loop", 0.1, survived=False, contained=False)), 1)


if __name__ == "__main__":
    unittest.main()
