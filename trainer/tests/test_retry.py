"""When a client asks again, with a clock and dice of the test's own."""

import unittest

from paddock.retry import Backoff, Deadline, Interrupted, Tries, retry_after_s


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


class BackoffTest(unittest.TestCase):
    def test_waits_double_up_to_five_seconds(self):
        backoff = Backoff(dice=lambda: 0.0)
        waits = [backoff.next_wait_s() for _ in range(9)]
        self.assertEqual(waits, [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0])

    def test_progress_starts_them_over(self):
        backoff = Backoff(dice=lambda: 0.0)
        for _ in range(5):
            backoff.next_wait_s()
        backoff.progress()
        self.assertEqual(backoff.next_wait_s(), 0.1)

    def test_a_wait_is_at_least_what_the_daemon_asked_for(self):
        self.assertEqual(Backoff(dice=lambda: 0.0).next_wait_s(7.0), 7.0)
        self.assertGreater(Backoff(dice=lambda: 1.0).next_wait_s(7.0), 7.0)

    def test_retry_after_is_seconds(self):
        for value, seconds in [
            ("1", 1.0),
            (" 30 ", 30.0),
            (None, None),
            ("soon", None),
            ("-1", None),
            ("Wed, 21 Oct 2026 07:28:00 GMT", None),
        ]:
            self.assertEqual(retry_after_s(value), seconds)


class TriesTest(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.tries = Tries(Deadline(1.0, self.clock), Backoff(dice=lambda: 0.0))

    def test_they_end_when_a_wait_would_pass_the_deadline(self):
        refused = Interrupted("refused")
        self.assertEqual(self.tries.next_wait_s(refused), 0.1)
        self.clock.now += 0.85
        self.assertIsNone(self.tries.next_wait_s(refused))

    def test_what_the_daemon_asks_for_beyond_the_deadline_ends_them_at_once(self):
        self.assertIsNone(self.tries.next_wait_s(Interrupted("busy", retry_after_s=60.0)))

    def test_nonsense_three_times_in_a_row_ends_them(self):
        nonsense = Interrupted("no HTTP", is_nonsense=True)
        self.assertIsNotNone(self.tries.next_wait_s(nonsense))
        self.assertIsNotNone(self.tries.next_wait_s(nonsense))
        self.tries.progress()
        self.assertIsNotNone(self.tries.next_wait_s(nonsense))
        self.assertIsNotNone(self.tries.next_wait_s(nonsense))
        self.assertIsNone(self.tries.next_wait_s(nonsense))

    def test_what_cannot_get_better_ends_them(self):
        self.assertIsNone(self.tries.next_wait_s(Interrupted("permission", is_final=True)))

    def test_a_deadline_is_never_negative_and_needs_a_timeout_above_zero(self):
        deadline = Deadline(2.0, self.clock)
        self.assertEqual(deadline.left_s(), 2.0)
        self.clock.now += 5
        self.assertEqual(deadline.left_s(), 0.0)
        self.assertTrue(deadline.is_over())
        self.assertIsNone(Deadline(None).left_s())
        for wrong in (0, -1):
            with self.assertRaises(ValueError):
                Deadline(wrong)


if __name__ == "__main__":
    unittest.main()
