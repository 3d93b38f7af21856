"""The forgeries: files of code with what they try in comments at their head."""

import json
import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "forgeries")
CASES = [
    {"args": [1, 2], "expected": 3},
    {"args": [-5, 5], "expected": 0},
    {"args": [10, 20], "expected": 30},
    {"args": ["a", "b"], "expected": "ab"},
]
KEYS = ("tries", "pays", "threat", "honest", "needs", "seconds", "item", "refused")


def source_of(cases):
    lines = ["def check(candidate):"]
    for case in cases:
        args = ", ".join(map(repr, case["args"]))
        lines.append("    assert candidate(%s) == %r" % (args, case["expected"]))
    return "\n".join([*lines, "    return True", ""])


def plain_tests():
    """Those of a forgery that brings none, by their kinds."""
    return {
        "call": {"kind": "call", "entry_point": "solve", "cases": CASES},
        "assert": {"kind": "assert", "entry_point": "solve", "source": source_of(CASES)},
    }


class Forgery:
    def __init__(self, name):
        self.name = name
        with open(os.path.join(FOLDER, name + ".py")) as file:
            self.code = file.read()
        head = {}
        for line in self.code.splitlines():
            if not line.startswith("# "):
                break
            key, value = line[2:].split(": ", 1)
            if key not in KEYS or key in head:
                raise ValueError("%s: %s" % (name, line))
            head[key] = value
        self.tries = head["tries"]
        self.pays = head.get("pays", "").split()  # the naive variants that it fools
        self.threat = head.get("threat", "")  # why it is here although it fools none
        if bool(self.pays) == bool(self.threat):
            raise ValueError("%s: wants either pays or threat" % name)
        self.honest = float(head.get("honest", 0))
        self.refused = head.get("refused", "")  # what the judge says of the tests, whatever the code
        self.needs_sandbox = head.get("needs") == "sandbox"
        self.seconds = float(head.get("seconds", 20))
        item = json.loads(head.get("item", '{"cases": %s}' % json.dumps(CASES)))
        self.cases = item.get("cases", [])
        plain = "source" not in item and "naive_source" not in item
        self.own_source = not plain
        self.source = item.get("source", source_of(self.cases) if plain else "")
        self.naive_source = item.get("naive_source", self.source)

    def tests(self):
        """The tests that the judge is asked with, of both kinds as far as it has both."""
        if self.cases:
            yield {"kind": "call", "entry_point": "solve", "cases": self.cases}
        if self.source:
            yield {"kind": "assert", "entry_point": "solve", "source": self.source}

    def given(self, nonce):
        """For the naive checker."""
        return {
            "cases": self.cases,
            "code": self.code,
            "source": self.naive_source,
            "own_source": self.own_source,
            "entry_point": "solve",
            "nonce": nonce,
        }


def all_forgeries():
    return [Forgery(f[:-3]) for f in sorted(os.listdir(FOLDER)) if f.endswith(".py")]
