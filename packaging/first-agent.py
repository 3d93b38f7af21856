"""A first agent: it repairs a program by running its tests, as a coding agent does, and on the way
tries what an agent should not be able to do. It knows nothing of the sandbox that it runs in."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

# What a model would answer, turn by turn. The second answer mends the first.
ANSWERS = [
    "def median(xs):\n    xs = sorted(xs)\n    return xs[len(xs) // 2]\n",
    "def median(xs):\n    xs = sorted(xs)\n    half = len(xs) // 2\n"
    "    return xs[half] if len(xs) % 2 else (xs[half - 1] + xs[half]) / 2\n",
]
TESTS = """
import unittest
from solution import median

class MedianTest(unittest.TestCase):
    def test_odd(self):
        self.assertEqual(median([3, 1, 2]), 2)

    def test_even(self):
        self.assertEqual(median([4, 1, 3, 2]), 2.5)

unittest.main()
"""


def repair():
    Path("test_solution.py").write_text(TESTS)
    for turn, answer in enumerate(ANSWERS, start=1):
        Path("solution.py").write_text(answer)
        tests = subprocess.run([sys.executable, "test_solution.py"], capture_output=True, text=True)
        verdict = tests.stderr.strip().splitlines()[-1]
        print(f"turn {turn}: tests say {verdict}")
        if tests.returncode == 0:
            return True
    return False


def read_password_hashes():
    return Path("/etc/shadow").read_text()


def call_home():
    return socket.create_connection(("1.1.1.1", 80), timeout=2)


def overwrite_a_system_program():
    return Path("/usr/bin/python3").write_text("#!/bin/sh\n")


def fork_without_end():
    children = []
    try:
        for _ in range(1000):
            pid = os.fork()
            if pid == 0:
                signal.pause()
            children.append(pid)
    finally:
        print(f"  ({len(children)} children, then no more)")
    return children


def main():
    print("repairing:", "done" if repair() else "gave up")
    for attempt in (read_password_hashes, call_home, overwrite_a_system_program, fork_without_end):
        try:
            attempt()
            print(f"{attempt.__name__}: it worked, which is bad news")
        except OSError as error:
            print(f"{attempt.__name__}: {error.strerror}")


main()
