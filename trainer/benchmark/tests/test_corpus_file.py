"""The corpus is the one that results are about, and holds what the contract says."""

import json
import tempfile
import unittest
from pathlib import Path

from benchmark import corpus
from benchmark.errors import BenchmarkError

CATEGORIES = {
    "infinite_loop", "fork_bomb", "memory_bomb", "output_flood", "disk_fill", "setsid_daemon",
    "zombie_storm", "reward_forgery", "signal", "exit_game", "tamper",
}  # fmt: skip


class CorpusFile(unittest.TestCase):
    def test_has_at_least_two_dozen_programs_of_every_category_and_effect(self):
        samples = corpus.load()
        self.assertGreaterEqual(len(samples), 24)
        self.assertEqual({sample.category for sample in samples}, CATEGORIES)
        self.assertEqual({sample.effect for sample in samples}, set(corpus.EFFECTS))

    def test_is_refused_when_one_byte_is_another(self):
        data = bytearray(corpus.PATH.read_bytes())
        data[len(data) // 2] ^= 1
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            with self.assertRaisesRegex(BenchmarkError, f"{file.name} is not the corpus.*SHA-256"):
                corpus.load(Path(file.name))

    def test_is_refused_when_it_is_not_there(self):
        with self.assertRaisesRegex(BenchmarkError, "the corpus cannot be read"):
            corpus.load(Path("/nonexistent"))

    def test_is_refused_when_it_is_no_corpus(self):
        sample = {
            "id": "a", "category": "x", "effect": "hang", "scheme": "in_loop", "code": ["pass"],
        }  # fmt: skip
        self.assertEqual(len(corpus.parse(json.dumps({"samples": [sample]}).encode())), 1)
        for wrong in (
            b"", b"[]", b"{}", b'{"samples": []}', b'{"samples": [1]}',
            json.dumps({"samples": [sample, sample]}).encode(),
            json.dumps({"samples": [{**sample, "effect": "none"}]}).encode(),
            json.dumps({"samples": [{**sample, "more": 1}]}).encode(),
        ):  # fmt: skip
            with self.subTest(wrong=wrong), self.assertRaises(BenchmarkError):
                corpus.parse(wrong)


if __name__ == "__main__":
    unittest.main()
