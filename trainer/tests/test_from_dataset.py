"""Tests and completions in the forms of data sets and trainers."""

import unittest
from types import SimpleNamespace

from paddock import AssertTests, CallCase, CallTests, StdioCase, StdioTests
from paddock.from_dataset import completion_text, tests_from


class TestsFromTest(unittest.TestCase):
    def test_each_form_is_read(self):
        plain = {"kind": "stdio", "cases": [{"stdin": "1", "stdout": "2"}]}
        table = [
            (AssertTests("assert 1"), AssertTests("assert 1")),
            (plain, plain),
            ('{"kind": "assert", "source": "assert 1"}', {"kind": "assert", "source": "assert 1"}),
            (
                {"inputs": ["1\n", ["2", "3"]], "outputs": ["a", "b\nc"]},
                StdioTests([StdioCase("1\n", "a", "lines"), StdioCase("2\n3", "b\nc", "lines")]),
            ),
            (
                '{"inputs": ["[1]\\n\\"x\\""], "outputs": ["{\\"a\\": 1}"], "fn_name": "f"}',
                CallTests("f", [CallCase([[1], "x"], {"a": 1})]),
            ),
            (
                {"inputs": [[1, 2]], "outputs": [3], "fn_name": "f"},
                CallTests("f", [CallCase([1, 2], 3)]),
            ),
            (
                {"assert_case": ["assert f(1)", "assert f(2)"]},
                AssertTests("assert f(1)\nassert f(2)"),
            ),
            (["assert f(1)", "assert f(2)"], AssertTests("assert f(1)\nassert f(2)")),
            (
                "def check(candidate):\n    assert candidate(1)\n",
                AssertTests("def check(candidate):\n    assert candidate(1)\n"),
            ),
            ("[f(i) for i in 'a']\nassert f(1)", AssertTests("[f(i) for i in 'a']\nassert f(1)")),
        ]
        for value, expected in table:
            with self.subTest(value=value):
                self.assertEqual(tests_from(value), expected)

    def test_the_entry_point_is_for_source(self):
        self.assertEqual(
            tests_from("assert candidate(1)", "f"), AssertTests("assert candidate(1)", "f")
        )
        self.assertEqual(tests_from(["assert f(1)"], "f"), AssertTests("assert f(1)", "f"))
        plain = {"kind": "assert", "source": "assert 1"}
        self.assertEqual(tests_from(plain, "f"), plain)

    def test_what_a_data_set_of_one_schema_has_filled_in_is_left_out(self):
        row = {
            "kind": "call",
            "entry_point": "f",
            "source": None,
            "prelude": None,
            "cases": [{"args": [None], "kwargs": None, "expected": None, "checker": None}],
        }
        self.assertEqual(
            tests_from(row),
            {"kind": "call", "entry_point": "f", "cases": [{"args": [None], "expected": None}]},
        )

    def test_what_are_no_tests_is_said(self):
        for value in [
            None,
            3,
            {},
            {"tests": []},
            [],
            b"assert 1",
            {"inputs": [], "outputs": [1]},
            {"inputs": [1], "outputs": [1]},
            {"inputs": ["{"], "outputs": ["1"], "fn_name": "f"},
            [1, 2],
            {"assert_case": [1]},
            '{"inputs": "x"}',
        ]:
            with self.subTest(value=value), self.assertRaises(ValueError):
                tests_from(value)


class CompletionTextTest(unittest.TestCase):
    def test_it_is_text_or_the_assistants_last_words(self):
        table = [
            ("text", "text"),
            ([{"role": "assistant", "content": "a"}], "a"),
            (
                [
                    {"role": "assistant", "content": "a"},
                    {"role": "tool", "content": "t"},
                    {"role": "assistant", "content": "b"},
                    {"role": "user", "content": "u"},
                ],
                "b",
            ),
            (
                [
                    {"role": "assistant", "content": "a"},
                    {"role": "assistant", "content": None, "tool_calls": []},
                ],
                "a",
            ),
            (
                [
                    {
                        "role": "assistant",
                        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                    }
                ],
                "ab",
            ),
            ([SimpleNamespace(role="assistant", content="a")], "a"),
            ([], ""),
            ([{"role": "user", "content": "u"}], ""),
        ]
        for completion, text in table:
            with self.subTest(completion=completion):
                self.assertEqual(completion_text(completion), text)
        with self.assertRaises(ValueError):
            completion_text(None)


if __name__ == "__main__":
    unittest.main()
