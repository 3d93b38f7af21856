# From the job to the report. The parts are sources, which share no name: compiling one that is not
# needed would cost milliseconds.
PARTS = {"call": CALLS, "assert": ASSERTIONS}
DIGITS_MAX = 30_103  # of an integer of 100,000 bits
DIGITS_AT_ONCE = 4000  # Python refuses more than 4300


def integer(text):
    digits = text[1:] if text[:1] == "-" else text
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= DIGITS_MAX):
        raise ValueError("an integer of more than 100,000 bits")
    value = 0
    for start in range(0, len(digits), DIGITS_AT_ONCE):
        part = digits[start : start + DIGITS_AT_ONCE]
        value = value * 10 ** len(part) + int(part)
    return -value if text[0] == "-" else value


def prepare():
    """Called in a zygote, which has the time (rfcs/0013)."""
    while PARTS:
        exec(PARTS.popitem()[1], globals())


def execute(part):
    if part in PARTS:
        exec(PARTS.pop(part), globals())


def judge(job, candidate):
    tests = job["tests"]
    first_failure_ends = job["stop"] == "first_fail"
    kind = "call" if tests["kind"] == "call" else "assert"
    execute(kind)
    if kind == "call":
        return judge_cases(tests, first_failure_ends, candidate)
    return judge_assertions(tests, first_failure_ends, candidate)


def report_of(judging, candidate=None):
    """Of a function that gives the cases or raises Unusable."""
    try:
        cases = judging()
        return {"verdict": "judged", "cases": cases, "waited_s": candidate.waited_s if candidate else 0}
    except Unusable as error:
        return {"verdict": error.verdict, "detail": str(error)}


class Json:
    """make_scanner's settings: JSON as the daemon writes it."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = parse_constant = float
    memo = {}

    @staticmethod
    def parse_int(text):
        return int(text) if len(text) <= DIGITS_AT_ONCE else integer(text)


def json_of(text):
    try:
        value, _ = make_scanner(Json)(text, 0)
        return value
    except (ValueError, RecursionError) as error:
        raise Unusable("tests: " + described(error))
