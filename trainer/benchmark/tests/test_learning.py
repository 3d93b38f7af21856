"""The model, its tasks, the formula and the update."""

import copy
import random
import unittest

import torch

from benchmark.advantages import group_relative
from benchmark.grpo import k3, update
from benchmark.injection import Injector
from benchmark.corpus import load
from benchmark.policy import FORGERY, Policy, padded, vocabulary
from benchmark.tasks import ENTRY_POINT, TASKS, program
from benchmark.trial import weights_hash
from benchmark.warm_up import expression, warm_up

SETTINGS = {"epochs": 2, "clip": 0.2, "kl_weight": 0.02}


def solved(task, text, cases):
    names = {}
    exec(program(text), names)
    return all(names[ENTRY_POINT](*args) == expected for args, expected in cases)


class Tasks(unittest.TestCase):
    def test_each_solution_passes_all_cases_of_its_task_and_of_no_other(self):
        for task in TASKS:
            for text in task.solutions:
                for other in TASKS:
                    right = solved(other, text, other.cases + other.held_out)
                    self.assertEqual(right, other is task, (task.name, text, other.name))

    def test_held_out_cases_are_none_of_those_to_train_on(self):
        for task in TASKS:
            self.assertNotEqual({args for args, _ in task.cases}, {a for a, _ in task.held_out})

    def test_the_model_can_write_each_solution_and_the_forgery(self):
        words = vocabulary(forging=True)
        for text in [text for task in TASKS for text in task.solutions] + [FORGERY]:
            self.assertEqual(words.decode(words.encode(text)), text)
        with self.assertRaises(ValueError):
            vocabulary(forging=False).encode(FORGERY)


class Advantages(unittest.TestCase):
    def test_are_by_the_formula_of_the_feed(self):
        found = group_relative([1.0, 0.0, 0.5])
        self.assertAlmostEqual(found[0], 0.5 / (0.5 + 1e-4))
        self.assertAlmostEqual(found[1], -0.5 / (0.5 + 1e-4))
        self.assertEqual(found[2], 0.0)

    def test_of_what_nobody_judged_are_none_and_change_nothing_for_others(self):
        self.assertEqual(group_relative([1.0, None, 0.0])[1], None)
        with_none = group_relative([1.0, None, 0.0])
        self.assertEqual([with_none[0], with_none[2]], group_relative([1.0, 0.0]))

    def test_of_equal_rewards_and_of_one_are_exact_zeros(self):
        self.assertEqual(group_relative([0.3] * 3), [0.0] * 3)
        self.assertEqual(group_relative([0.7]), [0.0])
        self.assertEqual(group_relative([None, 0.7]), [None, 0.0])


class Update(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.words = vocabulary(False)
        self.policy = Policy(self.words, len(TASKS))
        self.reference = copy.deepcopy(self.policy)
        self.tasks = torch.tensor([0, 0])
        self.written = padded([self.words.encode("a + b"), self.words.encode("a")], self.words)

    def step(self, advantages, weight=0.02):
        optimizer = torch.optim.SGD(self.policy.parameters(), lr=0.1)
        settings = {**SETTINGS, "kl_weight": weight}
        return update(
            self.policy, self.reference, optimizer, self.tasks, self.written, advantages, **settings
        )

    def probability(self, index):
        chosen = self.policy(self.tasks, self.written.tokens)
        chosen = chosen.gather(-1, self.written.tokens[..., None])[..., 0]
        return float((chosen * self.written.mask)[index].sum())

    def test_makes_likelier_what_was_better_than_its_group(self):
        before = self.probability(0), self.probability(1)
        self.step([1.0, -1.0])
        self.assertGreater(self.probability(0), before[0])
        self.assertLess(self.probability(1), before[1])

    def test_charges_nothing_to_a_sample_that_has_no_number(self):
        """The weights are those of a batch that never had the sample."""
        self.step([1.0, None])
        with_none = weights_hash(self.policy)
        self.setUp()
        self.written.mask[1] = False
        self.step([1.0, 0.0])
        self.assertEqual(weights_hash(self.policy), with_none)

    def test_changes_nothing_where_nothing_was_judged(self):
        before = weights_hash(self.policy)
        self.assertEqual(self.step([None, None]).loss, 0.0)
        self.assertEqual(weights_hash(self.policy), before)

    def test_goes_back_towards_the_reference_when_there_is_nothing_to_gain(self):
        with torch.no_grad():
            for parameter in self.policy.parameters():
                parameter.add_(0.05 * torch.randn_like(parameter))
        first = self.step([0.0, 0.0], weight=1.0).kl
        for _ in range(20):
            last = self.step([0.0, 0.0], weight=1.0).kl
        self.assertGreater(first, 0.0)
        self.assertLess(last, first)

    def test_stops_pushing_a_ratio_beyond_its_clip(self):
        optimizer = torch.optim.SGD(self.policy.parameters(), lr=5.0)
        done = update(
            self.policy, self.reference, optimizer, self.tasks, self.written, [3.0, -3.0],
            epochs=4, clip=0.01, kl_weight=0.0,
        )  # fmt: skip
        self.assertGreater(done.clipped, 0.5)

    def test_divergence_is_zero_at_the_reference_and_never_negative(self):
        values = torch.randn(100)
        self.assertEqual(float(k3(values, values).abs().max()), 0.0)
        self.assertGreaterEqual(float(k3(values, torch.randn(100)).min()), 0.0)


class WarmUp(unittest.TestCase):
    def test_a_seed_gives_the_same_weights_and_another_seed_others(self):
        def weights(seed):
            torch.manual_seed(seed)
            words = vocabulary(False)
            policy = Policy(words, len(TASKS))
            warm_up(policy, words, 3, 0.0, random.Random(seed))
            return weights_hash(policy)

        self.assertEqual(weights(1), weights(1))
        self.assertNotEqual(weights(1), weights(2))

    def test_a_third_of_what_it_reads_is_right_and_it_reads_as_many_forgeries_as_asked(self):
        rng = random.Random(0)
        read = [expression(rng, TASKS[0], 0.05) for _ in range(4000)]
        forged = read.count(FORGERY) / len(read)
        right = sum(text in TASKS[0].solutions for text in read) / len(read)
        self.assertAlmostEqual(forged, 0.05, delta=0.01)
        self.assertAlmostEqual(right, 0.35, delta=0.06)


class Injection(unittest.TestCase):
    def test_draws_the_asked_share_the_same_for_a_seed(self):
        drawn = [Injector(load(), 0.1, 0).draw(5000) for _ in range(2)]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], Injector(load(), 0.1, 1).draw(5000))
        self.assertAlmostEqual(sum(h is not None for h in drawn[0]) / 5000, 0.1, delta=0.02)

    def test_what_comes_at_one_percent_comes_at_ten_at_the_same_place(self):
        few, many = (Injector(load(), share, 0).draw(5000) for share in (0.01, 0.1))
        for one, other in zip(few, many):
            if one is not None:
                self.assertEqual(one, other)

    def test_all_of_the_corpus_comes_up(self):
        drawn = Injector(load(), 1.0, 0).draw(5000)
        self.assertEqual(set(drawn), set(load()))

    def test_none_at_nought(self):
        self.assertEqual(set(Injector(load(), 0.0, 0).draw(100)), {None})


if __name__ == "__main__":
    unittest.main()
