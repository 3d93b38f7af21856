"""What an observer takes of what a trial says, files that are whole, and the progress of a sweep."""

import io
import tempfile
import unittest
from pathlib import Path

from benchmark import record
from benchmark.errors import BenchmarkError
from benchmark.files import locked, read_json, write_json
from benchmark.progress import Progress
from benchmark.record import NoRecord, Reader


class ReaderTest(unittest.TestCase):
    def test_puts_lines_together_however_they_are_cut(self):
        reader = Reader()
        data = b'{"kind": "step", "step": 1}\n{"kind": "finished"}\n'
        found = [line for byte in data for line in reader.take(bytes([byte]))]
        self.assertEqual([line["kind"] for line in found], ["step", "finished"])
        self.assertEqual(reader.foreign_lines, 0)

    def test_counts_what_the_trial_did_not_say(self):
        reader = Reader()
        words = (
            b'hello\n[1]\n{"step": 1}\n{"kind": 3}\n\xff\n{"kind": "step"}\n' + b"[" * 9000 + b"\n"
        )
        self.assertEqual(len(reader.take(words)), 1)
        self.assertEqual(reader.foreign_lines, 6)

    def test_ends_a_trial_that_says_too_much(self):
        with self.assertRaises(NoRecord):
            Reader().take(b"x" * (record.LINE_BYTES_MAX + 1))
        reader = Reader()
        with self.assertRaises(NoRecord):
            for _ in range(record.RECORD_BYTES_MAX // (1 << 20) + 1):
                reader.take((b"x" * 1023 + b"\n") * 1024)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_are_read_as_they_were_written_and_nothing_else_is_left(self):
        write_json(self.folder / "a", {"x": 1})
        write_json(self.folder / "a", {"x": 2})
        self.assertEqual(read_json(self.folder / "a"), {"x": 2})
        self.assertEqual([path.name for path in self.folder.iterdir()], ["a"])

    def test_that_are_damaged_are_told_by_name(self):
        for text in ("", "{", "[1]"):
            (self.folder / "a").write_text(text)
            with self.assertRaisesRegex(BenchmarkError, "/a is damaged"):
                read_json(self.folder / "a")
        with self.assertRaisesRegex(BenchmarkError, "/b: No such file"):
            read_json(self.folder / "b")

    def test_a_directory_belongs_to_one_process_at_a_time(self):
        with locked(self.folder / "new"):
            with self.assertRaisesRegex(BenchmarkError, "in use by another process"):
                with locked(self.folder / "new"):
                    pass
        with locked(self.folder / "new"):
            pass

    def test_a_directory_that_cannot_be_made_is_told(self):
        (self.folder / "file").write_text("")
        with self.assertRaisesRegex(BenchmarkError, "file/new: Not a directory"):
            with locked(self.folder / "file" / "new"):
                pass


class Terminal(io.StringIO):
    def isatty(self):
        return True


class ProgressTest(unittest.TestCase):
    def run_with(self, out):
        now = [0.0]
        progress = Progress(4, out, lambda: now[0])
        progress.was_done("a", "survived")
        progress.begin("b", 10)
        now[0] = 60.0
        progress.step(5)
        now[0] = 120.0
        progress.done("survived")
        progress.begin("c", 10)
        now[0] = 150.0
        progress.step(5)
        return out.getvalue()

    def test_tells_the_time_that_is_left_from_the_trials_that_it_ran(self):
        shown = self.run_with(Terminal())
        self.assertIn("[############            ] 2/4  c  step 0/10  4 min left", shown)
        self.assertIn("[###############         ] 2/4  c  step 5/10  4 min left", shown)

    def test_is_a_line_for_each_trial_where_there_is_no_terminal(self):
        lines = self.run_with(io.StringIO()).splitlines()
        self.assertEqual(len(lines), 2)
        self.assertIn("1/4  a: survived (before)", lines[0])
        self.assertIn("2/4  b: survived, 120 s  (4 min left)", lines[1])


if __name__ == "__main__":
    unittest.main()
