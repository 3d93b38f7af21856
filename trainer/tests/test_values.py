"""Python values and items -> RFC 0010's JSON."""

import base64
import collections
import enum
import hashlib
import json
import unittest

from paddock import AssertTests, CallCase, CallTests, Item, StdioCase, StdioTests
from paddock.values import canonical, to_json


class Colour(enum.IntEnum):
    RED = 3


Point = collections.namedtuple("Point", "x y")


class ValueTest(unittest.TestCase):
    def test_a_value_that_json_has_no_word_for_is_tagged(self):
        table = [
            (None, None),
            (True, True),
            (3, 3),
            (-0.5, -0.5),
            ("é", "é"),
            ([1, [2]], [1, [2]]),
            ((1, (2,)), {"$tuple": [1, {"$tuple": [2]}]}),
            ({2, 1}, {"$set": [1, 2]}),
            (frozenset("ba"), {"$frozenset": ["a", "b"]}),
            (b"\xff\x00", {"$bytes": "/wA="}),
            (bytearray(b"a"), {"$bytes": "YQ=="}),
            (float("nan"), {"$float": "nan"}),
            (float("inf"), {"$float": "inf"}),
            (float("-inf"), {"$float": "-inf"}),
            ({"a": (1,)}, {"a": {"$tuple": [1]}}),
            ({1: "x", "a": 2}, {"$dict": [[1, "x"], ["a", 2]]}),
            ({"$tuple": []}, {"$dict": [["$tuple", []]]}),
            ({(1, 2): None}, {"$dict": [[{"$tuple": [1, 2]}, None]]}),
            (2**80, 2**80),
            (1 - 2j, {"$complex": [1.0, -2.0]}),
        ]
        for value, expected in table:
            with self.subTest(value=value):
                written = to_json(value)
                self.assertEqual(written, expected)
                self.assertIs(type(written), type(expected))

    def test_a_subclass_goes_as_its_base_has_it(self):
        self.assertEqual(to_json(collections.Counter("aab")), {"a": 2, "b": 1})
        self.assertEqual(to_json(Point(1, 2)), {"$tuple": [1, 2]})
        self.assertIs(type(to_json(Colour.RED)), int)

    def test_equal_sets_have_one_text(self):
        names = [f"name{i}" for i in range(50)]
        self.assertEqual(canonical(to_json(set(names))), canonical(to_json(set(reversed(names)))))

    def test_what_is_no_value_is_refused(self):
        loop = []
        loop.append(loop)
        deep = 0
        for _ in range(64):
            deep = [deep]
        for value, error in [
            (object(), TypeError),
            ([lambda: 0], TypeError),
            ("\ud800", ValueError),
            ({"\ud800": 1}, ValueError),
            (loop, ValueError),
            (deep, ValueError),
            (1 << 100_001, ValueError),
        ]:
            with self.subTest(value=type(value)), self.assertRaises(error):
                to_json(value)

    def test_64_levels_are_allowed(self):
        deep = 0
        for _ in range(63):
            deep = [deep]
        self.assertEqual(to_json(deep), deep)


class ItemTest(unittest.TestCase):
    def test_each_kind_of_tests_has_the_json_of_the_rfc(self):
        table = [
            (
                StdioTests.of(("1\n", "2\n"), checker="tokens"),
                {
                    "kind": "stdio",
                    "cases": [{"stdin": "1\n", "stdout": "2\n", "checker": "tokens"}],
                },
            ),
            (
                StdioTests([StdioCase(b"\xff", b"ok")]),
                {"kind": "stdio", "cases": [{"stdin": {"b64": "/w=="}, "stdout": "ok"}]},
            ),
            (
                CallTests.of("f", ((1, (2,)), {3}), checker={"float": 1e-6}),
                {
                    "kind": "call",
                    "entry_point": "f",
                    "cases": [
                        {
                            "args": [1, {"$tuple": [2]}],
                            "expected": {"$set": [3]},
                            "checker": {"float": 1e-6},
                        }
                    ],
                },
            ),
            (
                CallTests("f", [CallCase([], None, {"k": b"a"})]),
                {
                    "kind": "call",
                    "entry_point": "f",
                    "cases": [{"args": [], "expected": None, "kwargs": {"k": {"$bytes": "YQ=="}}}],
                },
            ),
            (
                AssertTests("assert f()", entry_point="f"),
                {"kind": "assert", "source": "assert f()", "entry_point": "f"},
            ),
            (
                AssertTests("assert f()", entry_points=["f", "g"], prelude="import math"),
                {
                    "kind": "assert",
                    "source": "assert f()",
                    "entry_points": ["f", "g"],
                    "prelude": "import math",
                },
            ),
            ({"kind": "assert", "source": "assert 1"}, {"kind": "assert", "source": "assert 1"}),
        ]
        for tests, expected in table:
            with self.subTest(tests=tests):
                item = Item("a", "code", tests).to_json()
                self.assertEqual(
                    item, {"id": "a", "code": "code", "language": "python", "tests": expected}
                )

    def test_code_that_has_no_utf8_goes_as_base64_and_is_hashed_as_its_bytes(self):
        tests = AssertTests("assert f()")
        for code, data in [("x = '\ud800'", b"x = '\xed\xa0\x80'"), (b"\xff", b"\xff")]:
            item = Item("a", code, tests)
            sent = item.to_json()["code"]
            self.assertEqual(base64.b64decode(sent["b64"]), data)
            self.assertEqual(item.code_hash, hashlib.sha256(data).hexdigest())
        self.assertEqual(Item("a", "é".encode(), tests).to_json()["code"], "é")

    def test_integrity_is_what_the_answer_must_have(self):
        table = [
            (StdioTests.of(("", "")), None, "stdio"),
            ({"kind": "stdio"}, None, "stdio"),
            (AssertTests("assert 1"), None, "separate"),
            (AssertTests("assert 1"), "in_process", "in_process"),
        ]
        for tests, asked, expected in table:
            self.assertEqual(Item("a", "", tests, integrity=asked).asked_integrity, expected)

    def test_what_cannot_be_sent_is_refused_with_its_item_and_place(self):
        call = CallTests.of
        table = [
            (Item("a", "", call("f", ([1, object()], 1))), "item 'a': tests.cases[0].args "),
            (Item("a", "", call("f", ([], 1), ([], range(1)))), "item 'a': tests.cases[1].expected "),
            (Item("a", None, AssertTests("")), "item 'a': code must be text or bytes"),
            (Item("a", "", None), "item 'a': tests must be"),
            (Item("a", "", AssertTests("\ud800")), "item 'a': tests.source "),
            (Item("a", "", {"kind": "call", "x": float("nan")}), "item 'a': tests."),
            (Item("a", "", {"kind": "call", "x": "\ud800"}), "item 'a': tests."),
            (Item("", "", AssertTests("")), "id must be 1 to 256 bytes"),
            (Item("a\n", "", AssertTests("")), "id must be 1 to 256 bytes"),
            (Item("é" * 129, "", AssertTests("")), "id must be 1 to 256 bytes"),
            (Item("a", "", AssertTests(""), group="\x7f"), "group must be"),
            (Item("a", "", AssertTests(""), limits={"wall_seconds": object()}), "limits "),
        ]
        for item, place in table:
            with self.subTest(place=place):
                with self.assertRaises((TypeError, ValueError)) as caught:
                    item.to_json()
                self.assertIn(place, str(caught.exception))

    def test_canonical_json_is_sorted_without_white_space_and_unescaped(self):
        self.assertEqual(
            canonical({"b": 1e22, "a": ["é", None, 0.1]}), '{"a":["é",null,0.1],"b":1e+22}'
        )
        self.assertEqual(json.loads(canonical({"a": "\u2028"})), {"a": "\u2028"})


if __name__ == "__main__":
    unittest.main()
