"""How a trial ended, from what paddock says of it."""

import unittest

from benchmark.ending import Ending, Report, ending, read_report

REPORT = """paddock report
  run           r-1
  cause         {cause}
                said in words
"""


class EndingTest(unittest.TestCase):
    def test_is_the_exit_code_or_128_and_the_signal(self):
        self.assertEqual(ending(0, None, False), Ending("Clean(0)", "exited"))
        self.assertEqual(ending(1, None, False), Ending("Clean(1)", "exited"))
        self.assertEqual(ending(-9, None, False), Ending("Clean(137)", "signaled"))
        self.assertEqual(
            ending(137, Report("signaled", True), False), Ending("Clean(137)", "signaled")
        )

    def test_is_a_timeout_when_it_stalled_or_passed_its_wall_clock(self):
        self.assertEqual(ending(143, None, True).exit_status, "Timeout")
        self.assertEqual(ending(124, Report("wall_clock", True), False).exit_status, "Timeout")

    def test_is_told_when_its_memory_was_the_cause(self):
        self.assertEqual(ending(137, Report("memory_limit", True), False).exit_status, "OomKilled")


class ReportTest(unittest.TestCase):
    def test_is_the_last_one_whatever_a_run_printed_before(self):
        text = REPORT.format(cause="exited") + "words\n" + REPORT.format(cause="signaled")
        self.assertEqual(read_report(text), Report("signaled", True))

    def test_is_none_where_nothing_ran(self):
        for text in ("", "paddock: no such profile\n", "paddock report\n"):
            self.assertIsNone(read_report(text))

    def test_says_when_not_everything_was_seen_to_end(self):
        text = REPORT.format(cause="exited") + "  survivors     could not be proved to be gone\n"
        self.assertEqual(read_report(text), Report("exited", False))


if __name__ == "__main__":
    unittest.main()
