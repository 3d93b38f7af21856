"""What the judge makes of values, exceptions, assertions and of a candidate that breaks the rules."""

import ast
import os
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)  # of what these tests themselves write
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from two_processes import PROGRAMS, judged, judged_in_process, reward

# Speaks the channel's frames and says whatever stdin tells it to.
RAW = """
import os, sys
def question():
    length = int.from_bytes(os.read(3, 4), "big")
    text = os.read(3, length)
    return text[1:text.index(b",")]
def frame(text):
    return len(text).to_bytes(4, "big") + text
def say(text):
    rest = frame(text)
    while rest:
        rest = rest[os.write(3, rest):]
exec(sys.stdin.read())
"""


def causes(report):
    return [one["cause"] for one in report["cases"]]


def assertions(source, code, **more):
    report, _ = judged(code, {"kind": "assert", "source": source, **more})
    return report


def calls_of(work):
    """The functions that it calls: what its time is made of, on a machine of any speed."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


class Program(unittest.TestCase):
    def test_the_parts_that_a_zygote_executes_together_share_no_name(self):
        names = []
        for part in ("CALLS", "ASSERTIONS", "KNOWN"):
            text = PROGRAMS["judge"].split(part + " = r'''\n")[1].split("'''\n")[0]
            statements = ast.parse(text).body
            names += {s.name for s in statements if hasattr(s, "name")}
            names += {t.id for s in statements if isinstance(s, ast.Assign) for t in s.targets}
        self.assertGreater(len(names), 50)
        self.assertEqual(len(names), len(set(names)))


class Calls(unittest.TestCase):
    def outcomes(self, rows):
        """Of rows of (what the candidate returns, expected, checker) the causes."""
        cases = [
            {"args": [text], "expected": expected, **({"checker": c[0]} if c else {})}
            for text, expected, *c in rows
        ]
        code = "from collections import *\nfrom enum import *\nimport math\n"
        code += "def f(text):\n    return eval(text)\n"
        code += "class Level(IntEnum):\n    low = 1\nPair = namedtuple('Pair', 'a b')\n"
        report, ends = judged(code, {"kind": "call", "entry_point": "f", "cases": cases})
        self.assertEqual(report and report["verdict"], "judged", (report, ends))
        return list(zip(rows, causes(report)))

    def test_plain_values_are_equal_by_value_and_type(self):
        for row, cause in self.outcomes(
            [
                ("None", None),
                ("True", True),
                ("1", 1),
                ("1.0", 1),
                ("1", 1.0),
                ("-0.0", 0),
                ("10**18", 10**18),
                ("2**70", 2**70),
                ("-(2**14_000)", -(2**14_000)),
                ("10**30_000", 10**30_000),
                ("'\\U0001f389\\x00\"'", '\U0001f389\x00"'),
                ("'\\ud800'", "\ud800"),
                ("b'\\x00\\xff'", {"$bytes": "AP8="}),
                ("[1, [2.5, 'a']]", [1, [2.5, "a"]]),
                ("(1, (2,))", [1, [2]]),
                ("(1, 2)", {"$tuple": [1, 2]}),
                ("{'a': 1, 'b': [2]}", {"b": [2], "a": 1}),
                ("{1: 2, (3, 4): None}", {"$dict": [[{"$tuple": [3, 4]}, None], [1, 2]]}),
                ("{'$x': 1}", {"$dict": [["$x", 1]]}),
                ("{3, 1}", {"$set": [1, 3]}),
                ("frozenset('ab')", {"$frozenset": ["a", "b"]}),
                ("{(1, 2)}", {"$set": [{"$tuple": [1, 2]}]}),
                ("complex(1, -2)", {"$complex": [1, -2]}),
                ("math.nan", {"$float": "nan"}),
                ("[math.nan]", [{"$float": "nan"}]),
                ("-math.inf", {"$float": "-inf"}),
                ("Counter('aab')", {"a": 2, "b": 1}),
                ("OrderedDict(a=1)", {"a": 1}),
                ("defaultdict(int, a=1)", {"a": 1}),
                ("Pair(1, 2)", {"$tuple": [1, 2]}),
                ("Level.low", 1),
                ("[]", []),
                ("()", []),
                ("{}", {}),
                ("set()", {"$set": []}),
            ]
        ):
            with self.subTest(row):
                self.assertEqual(cause, "passed")

    def test_what_looks_equal_and_is_not_is_wrong(self):
        for row, cause in self.outcomes(
            [
                ("True", 1),
                ("1", True),
                ("0", None),
                ("False", 0),
                ("[True]", [1]),
                ("{1: 1}", {"$dict": [[True, 1]]}),
                ("{True}", {"$set": [1]}),
                ("'1'", 1),
                ("b'a'", "a"),
                ("[1, 2]", {"$tuple": [1, 2]}),
                ("[1, 2]", {"$set": [1, 2]}),
                ("frozenset([1])", {"$set": [1]}),
                ("[1, 2]", [2, 1]),
                ("{1}", {"$set": [1, 2]}),
                ("{1, 2}", {"$set": [1]}),
                ("[1]", [1, 1]),
                ("{'a': 1, 'b': 2}", {"a": 1}),
                ("{'a': 1}", {"a": 1, "b": 2}),
                ("[('a', 1)]", {"a": 1}),
                ("1", {"$complex": [1, 0]}),
                ("0.1 + 0.2", 0.3),
                ("2**53", 2**53 + 1),
                ("float(2**53)", 2**53 + 1),
                ("math.nan", 0),
                ("0", {"$float": "nan"}),
                ("math.inf", {"$float": "-inf"}),
                ("(1,) * 0", None),
            ]
        ):
            with self.subTest(row):
                self.assertEqual(cause, "wrong_answer")

    def test_what_is_no_plain_value_is_told_by_the_name_of_its_type(self):
        rows = self.outcomes(
            [
                ("map(int, [])", []),
                ("range(3)", [0, 1, 2]),
                ("(x for x in [])", []),
                ("{}.keys()", []),
                ("object()", None),
                ("bytearray(b'')", {"$bytes": ""}),
                ("[1, f]", [1, 2]),
                ("deque()", []),
                ("1 << 100_000", 1),
                ("'x' * (9 << 20)", "x"),
                ("(lambda l: l.append(l) or l)([])", []),
            ]
        )
        for row, cause in rows:
            with self.subTest(row):
                self.assertEqual(cause, "not_a_value")

    def test_numbers_within_an_epsilon_are_the_same_in_depth(self):
        near = {"float": 1e-3}
        for row, cause in self.outcomes(
            [
                ("0.1 + 0.2", 0.3, near),
                ("[(1.0001, 'a')]", [[1, "a"]], near),
                ("{'a': 1.0001}", {"a": 1}, near),
                ("{1.0001, 7}", {"$set": [7, 1]}, near),
                ("1000.5", 1000, near),
                ("complex(1.0001, 2)", {"$complex": [1, 2]}, near),
                ("math.inf", {"$float": "inf"}, near),
                ("math.nan", {"$float": "nan"}, near),
            ]
        ):
            with self.subTest(row):
                self.assertEqual(cause, "passed")
        for row, cause in self.outcomes(
            [
                ("1.01", 1, near),
                ("1002", 1000, near),
                ("True", 1, near),
                ("'1'", 1, near),
                ("math.nan", 1, near),
                ("math.inf", 1, near),
                ("1", {"$float": "inf"}, near),
                ("{1}", {"$set": [1, 2]}, near),
                ("10**400", 1.5, near),
                ("{1.5, 7}", {"$set": [7, 1]}, near),
                ("{1, 'a'}", {"$set": [1.0001, "b"]}, near),
                ("[1]", [1, 1], near),
            ]
        ):
            with self.subTest(row):
                self.assertEqual(cause, "wrong_answer")

    def test_an_unordered_list_is_a_multiset(self):
        for row, cause in self.outcomes(
            [
                ("[3, 1, 2]", [1, 2, 3], "unordered"),
                ("(3, 1, 1)", [1, 3, 1], "unordered"),
                ("[[2], {'a': 1}, [1]]", [[1], [2], {"a": 1}], "unordered"),
                ("[(1, 2), [1, 2]]", [[1, 2], {"$tuple": [1, 2]}], "unordered"),
                ("[(1, 2), [1, 2]]", [{"$tuple": [1, 2]}, [1, 2]], "unordered"),
                ("[math.nan, 1]", [1.0, {"$float": "nan"}], "unordered"),
                ("[]", [], "unordered"),
                ("[10**5000, (1, [10**5000])]", [[1, [10**5000]], 10**5000], "unordered"),
                ("{10**5000}", {"$set": [10**5000]}),
            ]
        ):
            with self.subTest(row):
                self.assertEqual(cause, "passed")
        for row, cause in self.outcomes(
            [
                ("[1, 2, 2]", [1, 1, 2], "unordered"),
                ("[1, True]", [1, 1], "unordered"),
                ("[[1, 2]]", [[2, 1]], "unordered"),
                ("[[1, 2], [1, 2]]", [[1, 2], {"$tuple": [1, 2]}], "unordered"),
                ("{1, 2}", [1, 2], "unordered"),
                ("[1]", [1, 1], "unordered"),
                ("None", [], "unordered"),
            ]
        ):
            with self.subTest(row):
                self.assertEqual(cause, "wrong_answer")

    def test_each_case_has_its_own_cause_and_the_others_go_on(self):
        code = "def f(n):\n    return [1 / n, int][n == 2] if n < 3 else n"
        cases = [{"args": [n], "expected": e} for n, e in ((0, 0), (1, 1), (2, 2), (3, 4), (5, 5))]
        tests = {"kind": "call", "entry_point": "f", "cases": cases}
        report, _ = judged(code, tests)
        self.assertEqual(
            causes(report), ["raised", "passed", "not_a_value", "wrong_answer", "passed"]
        )
        self.assertEqual(
            [one["detail"] for one in report["cases"]],
            ["ZeroDivisionError: division by zero", "", "type", "f(3): expected 4, got 3", ""],
        )
        report, _ = judged(code, tests, stop="first_fail")
        self.assertEqual(causes(report), ["raised"] + ["not_reached"] * 4)

    def test_an_end_fails_the_case_that_was_asked_and_the_rest_was_not_reached(self):
        cases = [{"args": [n], "expected": n} for n in range(3)]
        tests = {"kind": "call", "entry_point": "f", "cases": cases}
        code = "import os\ndef f(n):\n    return os._exit(0) if n else n"
        self.assertEqual(causes(judged(code, tests)[0]), ["passed", "ended", "not_reached"])
        self.assertEqual(causes(judged("import os\nos._exit(0)", tests)[0])[0], "ended")
        for code in ("def f(:", "1/0", "raise SystemExit(0)", b"\xff", b"x = '\0'"):
            with self.subTest(code=code):
                self.assertEqual(causes(judged(code, tests)[0]), ["does_not_load"] * 3)

    def test_entry_points_are_functions_and_methods(self):
        code = (
            "def f(n): return n\n"
            "class Solution:\n"
            "    made = 0\n"
            "    def __init__(self): Solution.made += 1\n"
            "    def two(self, n): return n if self.made else None\n"
            "    @staticmethod\n"
            "    def fixed(n): return n\n"
            "    @classmethod\n"
            "    def of_class(cls, n): return n\n"
            "    class Inner:\n"
            "        def deep(self, n): return n\n"
            "value = 7\n"
        )
        for path in ("f", "Solution().two", "Solution.two", "Solution.fixed", "Solution.of_class",
                     "Solution.Inner().deep", "Solution.Inner.deep"):  # fmt: skip
            with self.subTest(path):
                tests = {"kind": "call", "entry_point": path}
                tests["cases"] = [{"args": [n], "expected": n} for n in (1, 2)]
                self.assertEqual(causes(judged(code, tests)[0]), ["passed"] * 2)
        for path in ("g", "Solution().three", "Nobody.two", "value", "f.x", "Solution().made"):
            with self.subTest(path):
                tests = {"kind": "call", "entry_point": path}
                tests["cases"] = [{"args": [n], "expected": n} for n in (1, 2)]
                self.assertEqual(causes(judged(code, tests)[0]), ["no_entry_point"] * 2)

    def test_keywords_are_passed_on(self):
        tests = {"kind": "call", "entry_point": "f"}
        tests["cases"] = [{"args": [1], "kwargs": {"b": [2]}, "expected": [1, [2]]}]
        self.assertEqual(reward(judged("def f(a, *, b): return a, b", tests)[0]), 1.0)

    def test_cases_that_are_no_values_are_unusable(self):
        deep = []
        for _ in range(70):
            deep = [deep]
        for case, why in (
            ({"args": [{"$set": [[1]]}], "expected": 1}, "tests.cases[0].args: $set: unhashable"),
            ({"args": [{"$wat": 1}], "expected": 1}, "tests.cases[0].args: $wat: is unknown"),
            ({"args": 1, "expected": 1}, "tests.cases[0]: args wants an array"),
            ({"args": [], "expected": {"$tuple": 1}}, "tests.cases[0].expected: $tuple: wants"),
            ({"args": [], "expected": {"$set": [1, True]}}, "tests.cases[0].expected: $set: has"),
            ({"args": [], "expected": {"$float": "1"}}, "tests.cases[0].expected: $float"),
            ({"args": [], "expected": {"$bytes": "?"}}, "tests.cases[0].expected: $bytes"),
            ({"args": [], "expected": 10**31_000}, "tests: ValueError: an integer of more"),
            ({"args": [], "expected": {"$dict": [1]}}, "tests.cases[0].expected: $dict: "),
            ({"args": [deep], "expected": 1}, "tests.cases[0].args: more than 64 levels"),
            ({"args": [], "expected": 1, "checker": "lines"}, "tests.cases[0].checker: unknown"),
            ({"args": [], "expected": 1, "checker": {"float": -1}}, "tests.cases[0].checker"),
            ({"args": [], "expected": 1, "checker": "unordered"}, "tests.cases[0].expected: un"),
        ):
            with self.subTest(case):
                tests = {"kind": "call", "entry_point": "f", "cases": [case]}
                report, ends = judged("def f(*a): return 1", tests)
                self.assertEqual(report and report["verdict"], "unusable", (report, ends))
                self.assertTrue(report["detail"].startswith(why), report)


class Streams(unittest.TestCase):
    def test_the_code_reads_an_empty_stdin_and_prints_where_it_harms_nobody(self):
        code = (
            "import sys\nprint('x' * 100_000)\nprint('{}', file=sys.stderr)\n"
            "try:\n    input()\nexcept EOFError:\n    at_end = True\n"
            "def f():\n    print('{\"verdict\":\"judged\"}')\n    return at_end, __name__\n"
        )
        tests = {"kind": "call", "entry_point": "f"}
        tests["cases"] = [{"args": [], "expected": [True, "candidate"]}]
        report, ends = judged(code, tests)
        self.assertEqual(reward(report), 1.0, report)
        self.assertEqual(ends["candidate"], 0)

    def test_the_candidates_side_ends_with_the_questions_and_keeps_the_channel_to_itself(self):
        code = (
            "import atexit, os, threading, time\n"
            "threading.Thread(target=time.sleep, args=(50,)).start()\n"
            "atexit.register(time.sleep, 50)\n"
            "def f(): return os.get_inheritable(3)\n"
        )
        tests = {"kind": "call", "entry_point": "f", "cases": [{"args": [], "expected": False}]}
        started = time.monotonic()
        report, ends = judged(code, tests)
        self.assertEqual((reward(report), ends["candidate"]), (1.0, 0), report)
        self.assertLess(time.monotonic() - started, 40)

    def test_the_report_says_how_long_the_judge_waited_and_not_how_long_it_worked(self):
        tests = {"kind": "assert", "source": "assert f(1) == 1\n"}
        for loads, asked in ((1, 0), (0, 1)):
            code = "import time\ntime.sleep(%d)\ndef f(x):\n    time.sleep(%d)\n    return x\n"
            report, ends = judged(code % (loads, asked), tests)
            self.assertEqual(reward(report), 1.0, (report, ends))
            self.assertGreaterEqual(report["waited_ms"], 900, report)
        tests["source"] = "import time\ntime.sleep(1)\nassert f(1) == 1\ntime.sleep(1)\n"
        started = time.monotonic()
        report, ends = judged("def f(x): return x", tests)
        whole_ms = (time.monotonic() - started) * 1e3
        self.assertEqual(reward(report), 1.0, (report, ends))
        self.assertLess(report["waited_ms"], whole_ms - 2000)

    def test_tests_may_print(self):
        report = assertions("import os\nprint('a', flush=True)\nos.write(1, b'x')\nassert f() == 1\n", "def f(): return 1")
        self.assertEqual(causes(report), ["passed"])

    def test_large_answers_and_arguments_pass_whole(self):
        source = "text = 'x' * 3_000_000\nassert f(text) == text\nassert f([1] * 1_000_000)[-1] == 1"
        self.assertEqual(reward(assertions(source, "def f(x): return x")), 1.0)


class Arguments(unittest.TestCase):
    def test_what_the_candidate_changes_in_place_comes_back_to_the_same_objects(self):
        code = (
            "def f(rows, table, seen):\n"
            "    rows.sort()\n    rows[0].append(9)\n    rows.append([5])\n"
            "    table['new'] = rows[1]\n    del table['old']\n    seen |= {3}\n"
        )
        source = (
            "a, b = [2], [1]\nrows, table, seen = [a, b], {'old': 1}, {1}\n"
            "f(rows, table=table, seen=seen)\n"
            "assert rows == [[1, 9], [2], [5]]\n"
            "assert rows[0] is b and rows[1] is a and b == [1, 9]\n"
            "assert list(table) == ['new'] and table['new'] is a\n"
            "assert seen == {1, 3}\n"
        )
        report = assertions(source, code)
        self.assertEqual(causes(report), ["passed"] * 4, report)

    def test_an_argument_given_back_or_given_twice_is_one_object(self):
        source = (
            "row = [0]\ngrid = [row, row]\n"
            "assert f(grid) is grid\nassert row == [1] and grid == [[1], [1]]\n"
            "assert grid[0] is row\n"
        )
        code = "def f(grid):\n    grid[0][0] = 1\n    return grid"
        self.assertEqual(causes(assertions(source, code)), ["passed"] * 3)

    def test_it_comes_back_from_a_call_that_raised_and_into_subclasses(self):
        source = (
            "from collections import Counter\nc = Counter('a')\n"
            "try:\n    f(c)\nexcept KeyError:\n    pass\n"
            "assert c == Counter('aab') and type(c) is Counter\n"
        )
        code = "def f(c):\n    c['a'] += 1\n    c['b'] = 1\n    raise KeyError('x')"
        self.assertEqual(causes(assertions(source, code)), ["passed"])

    def test_an_ordered_dict_keeps_its_order_and_a_subclass_its_own_methods(self):
        source = (
            "from collections import OrderedDict, defaultdict, deque\n"
            "d = OrderedDict(a=1, b=2)\nd.move_to_end('a')\nassert f(d, 'z') == ['b', 'a', 'z']\n"
            "assert list(d) == ['b', 'a', 'z'] and list(d.items())[2] == ('z', 0)\n"
            "d['q'] = 5\nassert list(d) == ['b', 'a', 'z', 'q'] and d.popitem() == ('q', 5)\n"
            "d.move_to_end('b')\nassert list(d) == ['a', 'z', 'b']\n"
            "class Counted(list):\n    def extend(self, more):\n"
            "        self.count = len(more)\n        super().extend(more)\n"
            "values = Counted([3, 1])\nf(values, 2)\nassert values == [3, 1, 2] and values.count == 3\n"
        )
        code = (
            "def f(d, key):\n    if type(d) is dict:\n        d[key] = 0\n"
            "    else:\n        d.append(key)\n    return list(d)\n"
        )
        report = assertions(source, code)
        self.assertEqual(causes(report), ["passed"] * 5, report)

    def test_a_huge_argument_does_not_break_the_details(self):
        report = assertions("assert f(10**5000, 2) == 1", "def f(a, b): return a")
        self.assertIn("f(a value of type int, 2) returned a value", report["cases"][0]["detail"])

    def test_an_argument_that_is_no_value_makes_the_tests_unusable(self):
        for source in ("assert f(lambda: 1) == 1", "assert f(1)\nassert f(k=open)"):
            report = assertions(source, "def f(*a, **k): return 1")
            self.assertEqual(report["verdict"], "unusable")
            self.assertIn("an argument of f is no value", report["detail"])


    def test_an_argument_that_an_answer_made_too_large_is_the_candidates_fault(self):
        for returned in ("[[]] * 900_000", "(1 << 100_000) - 1", "'x' * (5 << 20)"):
            with self.subTest(returned):
                code = "def f(x): return %s" % returned
                report = assertions("assert f([f(1), f(1)] * 2) == [1]\nassert f(f(1) * 9)", code)
                self.assertEqual(causes(report)[1], "not_a_value", report)
                self.assertEqual(reward(report), 0, report)
        caught = "try:\n    f(f(1) * 9)\nexcept:\n    pass\nassert f(2)\n"
        report = assertions(caught, "def f(x): return 'x' * (5 << 20)")
        self.assertEqual(causes(report), ["not_a_value"], report)
        before = "assert f('x' * (9 << 20))\n"
        self.assertEqual(assertions(before, "def f(x): return 1")["verdict"], "unusable")
        cases = [{"args": [text], "expected": 1} for text in ("a", "\u2028" * (3 << 20))]
        tests = {"kind": "call", "entry_point": "f", "cases": cases}
        self.assertEqual(judged("def f(x): return 1", tests)[0]["verdict"], "unusable")

    def test_a_message_has_little_more_than_a_million_elements_at_most(self):
        for count, cause in ((1_000_000, "passed"), (1_100_000, "not_a_value")):
            source = "assert len(f(%d)) == %d" % (count, count)
            self.assertEqual(causes(assertions(source, "def f(n): return [0] * n")), [cause])
        source = "assert f([0] * 1_100_000)"
        self.assertEqual(assertions(source, "def f(n): return 1")["verdict"], "unusable")
        code = "def f(x, y):\n    x[:] = y[:] = [0] * 600_000"
        report = assertions("x, y = [], []\nf(x, y)\nassert x == y", code)
        self.assertEqual(causes(report), ["not_a_value"])


class Exceptions(unittest.TestCase):
    def test_a_test_can_expect_them_by_their_builtin_name(self):
        code = (
            "class Own(ValueError): pass\nclass Far(Exception): pass\n"
            "def f(n):\n    raise [ValueError('bad'), Own('own'), KeyError('k'), Far('x'),\n"
            "        OSError(2, 'gone'), UnicodeDecodeError('a', b'b', 0, 1, 'c'),\n"
            "        SystemExit(0), StopIteration()][n]\n"
        )
        source = (
            "def caught(n):\n    try:\n        f(n)\n    except Exception as e:\n        return e\n"
            "e = caught(0)\nassert type(e) is ValueError and str(e) == 'bad'\n"
            "e = caught(1)\nassert type(e) is ValueError and str(e) == 'own'\n"
            "e = caught(2)\nassert type(e) is KeyError and e.args == ('k',)\n"
            "e = caught(3)\nassert type(e).__name__ == 'CandidateError' and 'Far: x' in str(e)\n"
            "e = caught(4)\nassert isinstance(e, FileNotFoundError) and e.errno == 2\n"
            "e = caught(5)\nassert type(e) is UnicodeDecodeError and e.reason == 'c'\n"
            "e = caught(6)\nassert type(e).__name__ == 'CandidateError'\n"
            "e = caught(7)\nassert type(e).__name__ == 'CandidateError'\n"
        )
        report = assertions(source, code)
        self.assertEqual(causes(report), ["passed"] * 8, report)

    def test_a_text_that_no_utf8_can_hold_does_not_break_the_report(self):
        report = assertions("assert f(1)", "def f(x):\n    raise ValueError('\\ud800')")
        self.assertEqual(causes(report), ["raised"])
        self.assertEqual(report["cases"][0]["detail"].encode("utf-8")[-6:], b"\\ud800")

    def test_the_usual_form_of_a_test_for_an_exception(self):
        source = "try:\n    f(-1)\n    assert False, 'no error'\nexcept ValueError:\n    pass\n"
        right = "def f(n):\n    raise ValueError"
        self.assertEqual(causes(assertions(source, right)), ["passed"])
        report = assertions(source, "def f(n): return n")
        self.assertEqual(causes(report), ["wrong_answer"])
        self.assertEqual(
            report["cases"][0]["detail"],
            "line 3: assert False, 'no error'; f(-1) returned -1; 'no error'",
        )
        report = assertions(source, "def f(n):\n    raise KeyError(n)")
        self.assertEqual(causes(report), ["raised"])


class Assertions(unittest.TestCase):
    IDENTITY = "def f(x): return x"

    def test_each_statement_is_a_case_and_a_failed_one_does_not_end_the_test(self):
        source = (
            "def check(candidate):\n"
            "    assert candidate(1) == 1\n"
            "    assert candidate(1) == 2\n"
            "    assert candidate(3) == 3\n"
            "    assert candidate([]) < 1\n"
            "assert f(1)\n"
        )
        report = assertions(source, self.IDENTITY, entry_point="f")
        self.assertEqual(
            causes(report), ["passed", "wrong_answer", "passed", "raised", "passed"]
        )
        self.assertEqual(
            report["cases"][1]["detail"],
            "line 3: assert candidate(1) == 2; f(1) returned 1",
        )

    def test_one_in_a_loop_passes_if_it_passed_every_time(self):
        source = "for n in range(5):\n    assert f(n) < 3\n    assert f(n) >= 0\n"
        report = assertions(source, self.IDENTITY)
        self.assertEqual(causes(report), ["wrong_answer", "passed"])
        self.assertIn("f(3) returned 3", report["cases"][0]["detail"])

    def test_they_are_found_wherever_a_statement_may_stand(self):
        source = (
            "import asyncio\n"
            "def inner():\n    with open('/dev/null') as file:\n        assert f(1) == 1\n"
            "class Tests:\n    value = 2\n    assert f(value) == value\n"
            "    def run(self):\n        if f(1):\n            assert f(3) == 3\n"
            "        else:\n            assert f(0)\n"
            "        while True:\n            assert (n := f(4)) == 4\n            break\n"
            "        try:\n            pass\n        finally:\n            assert n == 4\n"
            "async def later():\n    assert await soon() == 5\nasync def soon(): return f(5)\n"
            "def made():\n    assert f((yield 1)) == 6\n"
            "inner()\nTests().run()\nasyncio.run(later())\n"
            "left = made()\nnext(left)\nleft.close()\n"
            "g = made()\nnext(g)\ntry:\n    g.send(6)\nexcept StopIteration:\n    pass\n"
        )
        report = assertions(source, self.IDENTITY)
        self.assertEqual(causes(report), ["passed"] * 7, report)

    def test_a_handler_of_the_tests_keeps_its_meaning(self):
        either = "try:\n    assert f(1) == 2\nexcept AssertionError:\n    assert f(1) == 1\n"
        self.assertEqual(causes(assertions(either, self.IDENTITY)), ["passed"])
        either = (
            "def one():\n    assert f(1) == 2\n"
            "try:\n    one()\nexcept Exception:\n    assert f(1) == 1\n"
        )
        self.assertEqual(causes(assertions(either, self.IDENTITY)), ["passed"])
        raising = "try:\n    assert f(1) == 1\nexcept ValueError as e:\n    assert not e.args\n"
        report = assertions(raising, "def f(x):\n    raise ValueError")
        self.assertEqual(causes(report), ["passed"])
        other = "try:\n    assert f(1) == 2\nexcept ValueError:\n    pass\nassert f(1) == 1\n"
        self.assertEqual(causes(assertions(other, self.IDENTITY)), ["wrong_answer", "passed"])
        suppressed = (
            "import contextlib\nwith contextlib.suppress(AssertionError):\n    assert f(1) == 2\n"
            "assert f(1) == 1\n"
        )
        self.assertEqual(causes(assertions(suppressed, self.IDENTITY)), ["passed"])

    def test_a_test_that_does_not_run_to_its_end_passes_nothing(self):
        source = "assert f(1) == 1\nassert f(2) == 5\nvalue = f(3)\nassert f(4) == 4\nassert f(5)\n"
        for at_three, cause in (
            ("raise ValueError('three')", "raised"),
            ("os._exit(0)", "ended"),
            ("return object()", "not_a_value"),
            ("os.write(3, b'\\xff' * 8)", "protocol"),
        ):
            with self.subTest(at_three):
                code = "import os\ndef f(x):\n    if x == 3:\n        %s\n    return x" % at_three
                report = assertions(source, code)
                self.assertEqual(
                    causes(report), [cause, "wrong_answer", cause, "not_reached"], report
                )

    def test_no_handler_of_the_tests_hides_that_the_candidate_is_gone(self):
        source = (
            "for n in range(3):\n    try:\n        f(n)\n    except:\n        pass\n"
            "assert f(0) == 0\n"
        )
        code = "import os\ndef f(x): return os._exit(0) if x == 2 else x"
        self.assertEqual(causes(assertions(source, code)), ["ended"])

    def test_what_is_no_value_is_not_taken_for_an_exception_that_was_expected(self):
        source = (
            "def raises(x):\n    try:\n        f(x)\n        return False\n"
            "    except:\n        return True\n"
            "assert raises(-1)\n"
            "try:\n    f(-1)\n    caught = False\nexcept:\n    caught = True\n"
            "assert caught\nassert f(1) == 1\n"
        )
        raising = "def f(x):\n    if x < 0:\n        raise ValueError\n    return x"
        self.assertEqual(causes(assertions(source, raising)), ["passed"] * 3)
        silent = "def f(x):\n    return object() if x < 0 else x"
        self.assertEqual(
            causes(assertions(source, silent)), ["not_a_value", "not_a_value", "passed"]
        )
        at_the_end = "assert f(1) == 1\ntry:\n    f(-1)\nexcept:\n    pass\n"
        self.assertEqual(causes(assertions(at_the_end, silent)), ["not_a_value"])

    def test_constants_say_nothing_of_the_candidate(self):
        source = "assert True, 'debugging'\nassert f(1) == 2\nassert (f(1), 'a tuple by mistake')\n"
        self.assertEqual(causes(assertions(source, self.IDENTITY)), ["wrong_answer"])

    def test_an_assertion_that_passes_without_the_candidate_is_no_case(self):
        vacuous = (
            "assert callable(f)\nassert f\nassert f is not None and hasattr(f, 'x')\n"
            "assert isinstance(1, int)\n"
        )
        for code, cause in ((self.IDENTITY, "passed"), ("", "no_entry_point")):
            with self.subTest(code):
                report = assertions(vacuous + "assert f(1) == 1\n" + vacuous, code)
                self.assertEqual(causes(report), [cause])
                in_check = "def check(c):\n    assert callable(c)\n    assert c(1) == 1\n"
                report = assertions(in_check + "    assert c\n", code, entry_point="f")
                self.assertEqual(causes(report), [cause])
        report, _ = judged("", {"kind": "assert", "source": vacuous + "assert f(1)\nassert f(2)"},
                           stop="first_fail")  # fmt: skip
        self.assertEqual(causes(report), ["no_entry_point", "not_reached"])
        report = assertions(vacuous + "assert f(1) == 1\nf(2)\n", "def f(x): return 1 // (2 - x)")
        self.assertEqual(causes(report), ["raised"])
        report = assertions("assert not callable(f)\nassert f(1) == 1", self.IDENTITY)
        self.assertEqual(causes(report), ["wrong_answer", "passed"])
        report = assertions("r = f([1])\nassert r\nassert r[0] == 1\n", self.IDENTITY)
        self.assertEqual(causes(report), ["passed"] * 2)

    def test_assert_false_passes_where_it_could_have_been_reached(self):
        helper = "class Base:\n    def m(self):\n        assert False, 'abstract'\n"
        self.assertEqual(causes(assertions(helper + "assert f(1) == 2", self.IDENTITY)), ["wrong_answer"])
        source = (
            "for x in f([]):\n    if x < 0:\n        assert False\n"
            "if f(1) != 1:\n    assert False\nelif f(2) != 2:\n    assert False\n"
            "def t():\n    f(3)\n    try:\n        f(-1)\n    except ValueError:\n        pass\n"
            "    else:\n        assert False\nt()\n"
        )
        right = "def f(x):\n    if x == -1: raise ValueError\n    return x"
        self.assertEqual(causes(assertions(source, right)), ["passed"] * 3)
        self.assertEqual(
            causes(assertions(source, self.IDENTITY)), ["passed", "passed", "wrong_answer"]
        )

    def test_what_asks_nothing_is_unusable(self):
        for source, why in (
            ("f(1)", "tests.source: no assertion"),
            ("assert True", "tests.source: no assertion"),
            ("assert 1 + 1 == 2", "the tests never call the candidate"),
            ("def not_test():\n    assert f(1)", "the tests never call the candidate"),
            ("f(1)\nassert callable(f)", "no assertion asks the candidate"),
            ("def test_f(tmp_path):\n    assert f(1)", "test_f has parameters"),
            ("def test_f(*, n):\n    assert f(1)", "test_f has parameters"),
            ("class TestF:\n    def test_f(self): assert f(1)\nassert f(2)", "nobody makes a TestF"),
            ("async def test_f():\n    assert f(1)", "test_f is asynchronous"),
            ("import unittest\nclass T(unittest.TestCase):\n    def test(self): assert f(1)",
             "unittest.TestCase is not supported"),
            ("v = f(1)\nif v == -1: pass\n" + "".join("elif v == %d: pass\n" % i for i in range(1500))
             + "assert v == 1", "the tests do not compile: RecursionError"),
            ("assert f(1", "tests.source do not parse: line 1: "),
            ("import nobody\nassert f(1)", "the tests: ModuleNotFoundError: No module named"),
            ("def check(c):\n    assert c(1)\nraise SystemExit(0)", "the tests: SystemExit: 0"),
        ):
            with self.subTest(source):
                report = assertions(source, self.IDENTITY, entry_point="f")
                self.assertEqual(report["verdict"], "unusable", report)
                self.assertTrue(report["detail"].startswith(why), report)

    def test_a_test_that_runs_to_its_end_without_an_assertion_has_failed(self):
        source = "for x in f([]):\n    assert x == 1\n"
        report = assertions(source, self.IDENTITY)
        self.assertEqual(causes(report), ["no_assertion_ran"])
        self.assertEqual(reward(report), 0)

    def test_functions_named_as_tests_are_called_once(self):
        source = (
            "def test_a():\n    assert f(1) == 1\ndef test_b(n=2):\n    assert f(n) == 3\n"
            "def test_c():\n    global calls\n    calls += 1\n    assert f(calls) == 1\n"
            "calls = 0\nif __name__ == '__main__':\n    test_c()\n"
        )
        report = assertions(source, self.IDENTITY)
        self.assertEqual(causes(report), ["passed", "wrong_answer", "passed"])
        source = "def check(c):\n    assert c(1) == 1\ndef test_check():\n    check(f)\n"
        report = assertions(source, self.IDENTITY, entry_point="f")
        self.assertEqual(causes(report), ["passed"])

    def test_an_exit_with_0_is_the_end_where_nothing_is_left_to_do(self):
        for end in ("sys.exit(0)", "sys.exit()", "main()", "raise SystemExit"):
            source = "import sys\ndef main(): sys.exit(0)\nassert f(1) == 1\nassert f(2) == 3\n"
            report = assertions(source + end, self.IDENTITY, entry_point="f")
            self.assertEqual(causes(report), ["passed", "wrong_answer"], report)
        for source in ("import sys\nassert f(1) == 1\nsys.exit(1)",
                       "import sys\nassert f(1) == 1\nif f(2): sys.exit(0)\nassert f(2) == 3",
                       "import sys\nfor n in range(3):\n    assert f(n) == n\n    if f(n): sys.exit(0)",
                       "import sys\ndef t():\n    u()\n    assert f(1) == 1\n"
                       "def u():\n    if f(1): sys.exit(0)\nt()"):  # fmt: skip
            report = assertions(source, self.IDENTITY, entry_point="f")
            self.assertEqual(reward(report), 0, report)

    def test_stop_at_the_first_failure(self):
        source = "assert f(1) == 1\nassert f(2) == 3\ntry:\n    assert f(3) == 3\nexcept:\n    pass\n"
        tests = {"kind": "assert", "source": source}
        report, _ = judged(self.IDENTITY, tests, stop="first_fail")
        self.assertEqual(causes(report), ["passed", "wrong_answer", "not_reached"])

    def test_the_prelude_helps_and_its_stub_does_not_hide_the_candidate(self):
        prelude = (
            "from math import *\nLIMIT = 3\n"
            "def helper(x):\n    return x + LIMIT\n"
            "def same_as(a, b):\n    assert a == b\n"
            "def f(x):\n    \"\"\"Returns x.\"\"\"\n"
        )
        source = "assert f(helper(1)) == 4\nsame_as(f(2), 2)\nassert f(floor(2.5)) == 2\n"
        for more in ({}, {"entry_point": "f"}, {"entry_points": ["f"]}):
            with self.subTest(more):
                report = assertions(source, self.IDENTITY, prelude=prelude, **more)
                self.assertEqual(causes(report), ["passed"] * 3, report)
        report = assertions(source, "def f(x): return 2", prelude=prelude)
        self.assertEqual(causes(report), ["passed", "wrong_answer", "passed"])

    def test_check_is_called_with_the_only_function_where_none_is_named(self):
        source = "def check(candidate):\n    assert candidate(1) == 1\n"
        report = assertions(source, "import os\ndef any_name(x): return x")
        self.assertEqual(causes(report), ["passed"])
        report = assertions(source, "def a(x): return x\ndef b(x): return x")
        self.assertEqual(causes(report), ["no_entry_point"])
        report = assertions(source + "check(b)\n", "def a(x): return x\ndef b(x): return x")
        self.assertEqual(causes(report), ["passed"])

    def test_mbpp_style(self):
        code = (
            "import re\ndef text_match(text):\n    return bool(re.search('^a+b$', text))\n"
            "def merge(a, b):\n    return tuple(sorted(set(a) & set(b)))\n"
        )
        for source, expected in (
            ("assert text_match('aab') == True\nassert text_match('ba') == False", 1.0),
            ("assert set(merge((3, 4), (4, 5))) == {4}\nassert merge((1,), (2,)) == ()", 1.0),
            ("import math\nassert math.isclose(sum(merge((3, 4), (4, 5))), 4.0)", 1.0),
            ("assert text_match('ab') is True\nassert text_match('a') == True", 0.5),
        ):
            with self.subTest(source):
                self.assertEqual(reward(assertions(source, code)), expected)
        source = "assert missing(1) == 1\nassert merge([1], [1]) == (1,)"
        report = assertions(source, code, entry_points=["missing", "merge"])
        self.assertEqual(causes(report), ["no_entry_point", "passed"])

    def test_in_process_counts_alike(self):
        source = "def check(c):\n    assert c(1) == 1\n    assert c(2) == 3\n    assert c(3) == 3\n"
        tests = {"kind": "assert", "source": source, "entry_point": "f"}
        report, status = judged_in_process(self.IDENTITY, tests)
        self.assertEqual(causes(report), ["passed", "wrong_answer", "passed"])
        self.assertEqual(status, 0)
        report, status = judged_in_process("import os\nos._exit(0)", tests)
        self.assertEqual((report, status), (None, 0))
        tests = {"kind": "call", "entry_point": "f", "cases": [{"args": [1], "expected": 1}]}
        for code, cause in (
            (self.IDENTITY, "passed"),
            ("def f(x): return True", "wrong_answer"),
            ("def f(x): return object()", "not_a_value"),
            ("def f(x): raise SystemExit", "raised"),
            ("def f(x", "does_not_load"),
            ("def g(x): pass", "no_entry_point"),
        ):
            with self.subTest(code):
                self.assertEqual(causes(judged_in_process(code, tests)[0]), [cause])


class Names(unittest.TestCase):
    """Which of the tests' names are the candidate's."""

    def refused(self, source, **more):
        report = assertions(source, "def f(x): return x", **more)
        self.assertEqual(report["verdict"], "unusable", report)
        return report["detail"]

    def test_without_entry_points_one_undefined_name_that_is_called(self):
        code = "def f(x): return x\ndef g(x): return x"
        for source in ("assert f(1) == 1", "import math\nassert math.isclose(f(1), 1)",
                       "from math import *\nassert floor(f(1)) == 1",
                       "def helper(x): return later(x)\ndef later(x): return f(x)\nassert helper(1) == 1",
                       "def set_up():\n    global made\n    made = 1\nset_up()\nassert f(made) == 1",
                       "assert list(map(f, [1])) == [1] and f(1)"):  # fmt: skip
            with self.subTest(source):
                self.assertEqual(reward(assertions(source, code)), 1.0)
        self.assertIn("'f', 'g' are not defined", self.refused("assert f(1) == g(1)"))
        for source in ("assert math.isclose(f(1), 1)", "assert math.isclose(1, 1)",
                       "def check(c):\n    assert math(c(1))"):  # fmt: skip
            self.assertIn("'math' is not defined; import it in the tests", self.refused(source))
        self.assertEqual(reward(assertions("assert f(1) == g(1)", code, entry_points=["f", "g"])), 1)

    def test_a_name_that_is_read_and_that_nobody_defines(self):
        for source in ("assert f(1) == LIMIT", "assert isinstance(f(1), LIMIT)",
                       "try:\n    f(1)\nexcept LIMIT:\n    pass\nassert f(1) == 1",
                       "assert f(1) == 1, LIMIT", "def unused(): return LIMIT\nassert f(1) == 1"):  # fmt: skip
            for more in ({}, {"entry_point": "f"}):
                with self.subTest(source):
                    self.assertIn("'LIMIT' is not defined", self.refused(source, **more))

    def test_a_parameter_may_have_any_name(self):
        report = assertions("assert f(self=1) == 1", "def f(self): return self")
        self.assertEqual(causes(report), ["passed"])

    def test_an_entry_point_with_the_name_of_a_builtin_is_the_candidates(self):
        source = "assert sum(10, 15) == 6\nassert sum(1, 1) == 0\n"
        code = "def sum(a, b): return 6"
        report = assertions(source, code, entry_point="sum")
        self.assertEqual(causes(report), ["passed", "wrong_answer"])
        report = assertions(source, code)
        self.assertEqual(report["verdict"], "unusable")
        self.assertIn("name it in entry_point", report["detail"])

    def test_methods_of_an_instance_that_is_made_each_time(self):
        code = "class Solution:\n    def f(self, x): return x\n"
        at_once = "assert Solution().f(1) == 1\nassert Solution().f(2) == 3\n"
        kept = "s = Solution()\nassert s.f(1) == 1\nassert s.f(2) == 3\n"
        for source, points in ((at_once, ("", "Solution", "Solution.f", "Solution().f")),
                               (kept, ("Solution.f", "Solution().f"))):  # fmt: skip
            for point in points:
                with self.subTest(source, entry_point=point):
                    report = assertions(source, code, **({"entry_point": point} if point else {}))
                    self.assertEqual(causes(report), ["passed", "wrong_answer"])
        for source in (kept, "assert Solution(3).f(1) == 1\nassert Solution().f(1) == 1",
                       "s = Solution(3)\nassert s.f(1) == 1"):  # fmt: skip
            self.assertIn("name its method", self.refused(source))
            self.assertIn("name its method", self.refused(source, entry_point="Solution"))


class BrokenRules(unittest.TestCase):
    """Whatever comes over the channel, the judge says at its end that the candidate failed."""

    CALL = {
        "kind": "call",
        "entry_point": "f",
        "cases": [{"args": [[1]], "expected": 3}, {"args": [[2]], "expected": 3}],
    }
    ASSERT = {"kind": "assert", "source": "v = [1]\nassert f(v) == 3\nassert v == [1, 2]\n"}

    def test_an_answer_by_the_rules_is_taken(self):
        code = 'say(b\'["ready"]\')\nfor _ in range(2): say(b\'[%s,"value",3,[]]\' % question())'
        self.assertEqual(reward(judged(code, self.CALL, candidate=RAW)[0]), 1.0)

    def test_anything_else_is_the_candidates_fault(self):
        answers = [
            b"", b"[", b"null", b"[]", b"{}", b'"x"', b"\xff\xfe", b'["ready"]', b"[%s]", b"nan",
            b'[%s,"value",3]', b'[%s,"value",3,[],1]', b'[0,"value",3,[]]', b'["%s","value",3,[]]',
            b'[%s,"value",3,[]] ', b'[%s,"value",3,[]][]', b' [%s,"value",3,[]]', b'[%s,"passed",3,[]]',
            b'[%s,["value"],3,[]]', b'[%s,"value",NaN,[]]', b'[%s,"value",Infinity,[]]',
            b'[%s.0,"value",3,[]]', b'[%s,"value",{"r":1},[]]', b'[%s,"value",{"r":-1},[]]',
            b'[%s,"value",{"r":true},[]]', b'[%s,"value",{"r":0,"t":[]},[]]', b'[%s,"value",{},[]]',
            b'[%s,"value",{"x":1},[]]', b'[%s,"value",{"t":3},[]]', b'[%s,"value",{"s":[[]]},[]]',
            b'[%s,"value",{"s":[1,1]},[]]', b'[%s,"value",{"d":[[1,2],[1,3]]},[]]',
            b'[%s,"value",{"d":[[1]]},[]]', b'[%s,"value",{"d":[[[],1]]},[]]',
            b'[%s,"value",{"d":{}},[]]', b'[%s,"value",{"b":"0"},[]]', b'[%s,"value",{"b":[]},[]]',
            b'[%s,"value",{"i":"xyz"},[]]', b'[%s,"value",{"i":7},[]]', b'[%s,"value",{"f":"1"},[]]',
            b'[%s,"value",{"i":"' + b"f" * 30_000 + b'"},[]]', b'[%s,"value",{"f":[]},[]]',
            b'[%s,"value",' + b"9" * 100_000 + b",[]]", b'[%s,"value",{"c":[1,2]},[]]',
            b'[%s,"value",' + b"[" * 66 + b"]" * 66 + b",[]]",
            b'[%s,"value",' + b"[" * 500_000 + b"]" * 500_000 + b",[]]",
            b'[%s,"value",' + b'{"t":[' * 300 + b"]}" * 300 + b",[]]",
            b'[%s,"value",3,7]', b'[%s,"value",3,[0]]', b'[%s,"value",3,[[0]]]',
            b'[%s,"value",3,[[7,[]]]]', b'[%s,"value",3,[[-1,[]]]]', b'[%s,"value",3,[[true,[]]]]',
            b'[%s,"value",3,[[0,3]]]', b'[%s,"value",3,[[0,{"s":[]}]]]',
            b'[%s,"value",3,[[0,[{"r":0}]]]]', b'[%s,"value",3,[[0,[{"r":0},{"r":0}]]]]',
            b'[%s,"raised",3,[]]', b'[%s,"raised",[[],[],3],[]]', b'[%s,"raised",[["ValueError"]],[]]',
            b'[%s,"raised",["ValueError",[],"x"],[]]', b'[%s,"not_a_value",3,[]]',
            b'[%s,"raised",[["ValueError"],' + b"[" * 66 + b"]" * 66 + b',"x"],[]]',
            b'[%s,"no_entry_point",[],[]]', b'[%s,"does_not_load","x",[]]',
            b'[%s,"value","\\ud8",[]]', b'[%s,"value","\x01",[]]',
        ]  # fmt: skip

        def judge(pair):
            answer, tests = pair
            code = "say(b'[\"ready\"]')\nt = question()\nsay(%r.replace(b'%%s', t))\nquestion()"
            return answer, tests, judged(code % answer, tests, candidate=RAW)

        pairs = [(answer, tests) for answer in answers for tests in (self.CALL, self.ASSERT)]
        with ThreadPoolExecutor(max(2, os.cpu_count() or 2)) as pool:
            for answer, tests, (report, ends) in pool.map(judge, pairs):
                with self.subTest(answer[:60], kind=tests["kind"]):
                    self.assertEqual(report and report["verdict"], "judged", (report, ends))
                    self.assertEqual(causes(report), ["protocol", "not_reached"], report)

    def test_frames_that_lie_about_their_length_or_come_out_of_turn(self):
        for code, cause in (
            ("os.write(3, b'\\x00')", "ended"),
            ("os.write(3, b'\\x00\\x00\\x00\\x09[')", "ended"),
            ("os.write(3, b'\\x7f\\xff\\xff\\xff')", "protocol"),
            ("os.write(3, b'\\x00\\x80\\x00\\x01')\nos.read(3, 1)", "protocol"),
            ("say(b'[\"does_not_load\"]')", "protocol"),
            ("say(b'[\"does_not_load\",[]]')", "protocol"),
            ("say(b'[1,\"value\",3,[]]')", "protocol"),
            ("say(b'[\"ready\"]')\nsay(b'[\"ready\"]')\nquestion()", "protocol"),
            ("say(b'[\"ready\"]')\nsay(b'[0,\"value\",3,[]]')\nquestion()", "protocol"),
            ("say(b'[\"ready\"]')\nimport time\ntime.sleep(0.3)", "ended"),
            ("say(b'[\"ready\"]')\nos.close(3)\nimport time\ntime.sleep(0.2)", "ended"),
        ):
            for tests in (self.CALL, self.ASSERT):
                with self.subTest(code, kind=tests["kind"]):
                    report, ends = judged(code, tests, candidate=RAW)
                    self.assertEqual(report and report["verdict"], "judged", (report, ends))
                    self.assertEqual(causes(report), [cause, "not_reached"])
        code = (
            "say(b'[\"ready\"]')\nt = question()\n"
            "os.write(3, frame(b'[%s,\"value\",3,[]]' % t) * 2)\nquestion()"
        )
        self.assertEqual(
            causes(judged(code, self.CALL, candidate=RAW)[0]), ["passed", "protocol"]
        )

    def test_answers_that_fill_the_memory_are_the_candidates_fault(self):
        for content in (b"[]", b'{"s":[]}', b'{"t":[{"s":[]}]}', b'"x"', b"0.5"):
            with self.subTest(content):
                code = (
                    "say(b'[\"ready\"]')\nt = question()\n"
                    "say(b'[%%s,\"value\",[%%s],[]]' %% (t, b','.join([%r] * %d)))\nquestion()"
                ) % (content, (8 << 20) // (len(content) + 1) - 16)
                report, ends = judged(code, self.CALL, candidate=RAW)
                self.assertEqual(reward(report), 0, (report, ends))
                self.assertEqual(causes(report), ["protocol", "not_reached"], report)

    def test_reading_an_answer_costs_a_few_calls_for_each_mark_that_is_bounded(self):
        space = {}
        exec(PROGRAMS["judge"].replace("\nmain()", ""), space)
        for piece in ("[]", '{"d":[]}', '{"s":[]}', '{"d":[[{"z":[]},0]]}', '{"i":"1"}', "0.5"):
            marks_each = sum(map(piece.count, space["MARKS"])) + 1
            pieces = space["MARKS_MAX"] // 10 // marks_each
            text = space["within_bounds"]("[" + ",".join([piece] * pieces) + "]")
            with self.subTest(piece):
                calls = calls_of(lambda: space["bounded"](space["decoded"](text, [])))
                self.assertLess(calls / (pieces * marks_each), 6)

    def test_a_set_of_equal_hashes_is_not_built(self):
        code = "def f(x):\n    return {k * ((1 << 61) - 1) for k in range(1, 1200)}\n"
        report, _ = judged(code, self.CALL)
        self.assertEqual(causes(report), ["protocol", "not_reached"])


if __name__ == "__main__":
    unittest.main()
