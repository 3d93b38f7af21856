"""Ordinary checkers: code and tests in one interpreter, as trainers have them. They are the controls
of the forgeries: what earns nothing here proves nothing there.

    naive_checker.py VARIANT <given.json      {"cases", "code", "source", "entry_point", "nonce"}

For each variant, pays() says whether a checker of its kind would pay for what the process did.
"""

import ast
import json
import operator
import os
import pickle
import signal
import subprocess
import sys
import time
import unittest

TIMED_SECONDS = 1.0


def load(given):
    names = {"__name__": "solution"}
    exec(given["code"], names)
    return names


def run_tests(given, names):
    exec(given["source"], names)
    if "check" in names:
        names["check"](names[given["entry_point"]])


def exit_status(given):
    """All is well if the process ends with 0."""
    try:
        run_tests(given, load(given))
    except Exception as error:
        print(type(error).__name__, error, file=sys.stderr)
        sys.exit(1)


def sentinel(given):
    """All is well if a secret word is printed at the end."""
    global NONCE
    NONCE = given["nonce"]
    run_tests(given, load(given))
    print(NONCE)


def is_right(expected, got):
    return bool(operator.eq(expected, got))


def report(given):
    """The process prints which cases were right."""
    names = load(given)
    results = []
    for case in given["cases"]:
        args, expected = case["args"], case["expected"]
        try:
            results.append(is_right(expected, names[given["entry_point"]](*args)))
        except Exception:
            results.append(False)
    print(json.dumps(results))


def in_unittest(given):
    names = load(given)

    class Tests(unittest.TestCase):
        def test_cases(self):
            if given["own_source"]:
                return run_tests(given, names)
            for case in given["cases"]:
                self.assertEqual(names[given["entry_point"]](*case["args"]), case["expected"])

    result = unittest.TextTestRunner(stream=sys.stderr).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(Tests)
    )
    sys.exit(not result.wasSuccessful())


def rewritten(given):
    """Assertions are rewritten to be counted."""
    failed = []

    class Count(ast.NodeTransformer):
        def visit_Assert(self, node):
            [statement] = ast.parse("failed.append(not 0)").body
            statement.value.args[0].operand = node.test
            return statement

    names = load(given)
    names["failed"] = failed
    tree = ast.fix_missing_locations(Count().visit(ast.parse(given["source"])))
    exec(compile(tree, "tests", "exec"), names)
    if "check" in names:
        names["check"](names[given["entry_point"]])
    sys.exit(any(failed))


def timed(given):
    """In time by the checker's own clock and timer."""
    signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
    signal.setitimer(signal.ITIMER_REAL, TIMED_SECONDS)
    start = time.perf_counter()
    run_tests(given, load(given))
    sys.exit(time.perf_counter() - start > TIMED_SECONDS)


def stdout(given):
    """A process for each case, which prints what the function returns."""
    for case in given["cases"]:
        program = "%s\nprint(%s(*%r))" % (given["code"], given["entry_point"], case["args"])
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        if run.returncode or run.stdout.rstrip("\n") != str(case["expected"]):
            sys.exit(1)


def files(given):
    """Code and tests as files in one folder; the code is run first to see whether it loads."""
    with open("solution.py", "w") as file:
        file.write(given["code"])
    with open("test_solution.py", "w") as file:
        file.write("from solution import %s\n%s\n" % (given["entry_point"], given["source"]))
        if "def check" in given["source"]:
            file.write("check(%s)\n" % given["entry_point"])
    there = {**os.environ, "PYTHONPATH": os.getcwd()}
    subprocess.run([sys.executable, "solution.py"], env=there)
    sys.exit(subprocess.run([sys.executable, "test_solution.py"], env=there).returncode)


def pickled(given):
    """Another process runs the code and sends its results as a pickle."""
    run = subprocess.run(
        [sys.executable, __file__, "pickled_side"],
        input=json.dumps(given),
        encoding="utf-8",
        stdout=subprocess.PIPE,
    )
    results = pickle.loads(bytes.fromhex(run.stdout))
    sys.exit(not all(r == case["expected"] for r, case in zip(results, given["cases"])))


def pickled_side(given):
    names = load(given)
    results = [names[given["entry_point"]](*case["args"]) for case in given["cases"]]
    print(pickle.dumps(results).hex())


VARIANTS = {
    "exit_status": exit_status,
    "sentinel": sentinel,
    "report": report,
    "unittest": in_unittest,
    "rewritten": rewritten,
    "timed": timed,
    "stdout": stdout,
    "files": files,
    "pickled": pickled,
    "pickled_side": pickled_side,
}


def pays(variant, given, status, output):
    lines = output.decode("utf-8", "replace").splitlines()
    if variant == "sentinel":
        return given["nonce"] in lines
    if variant == "report":
        try:
            results = json.loads(lines[-1])
            return len(results) > 0 and all(results)
        except (IndexError, ValueError):
            return False
    return status == 0


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this file is not the checker's
    VARIANTS[sys.argv[1]](json.loads(sys.stdin.buffer.read()))
