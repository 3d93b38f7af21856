# From the job to the report.


def judge(job, candidate):
    tests = job["tests"]
    first_failure_ends = job["stop"] == "first_fail"
    if tests["kind"] == "call":
        return judge_cases(tests, first_failure_ends, candidate)
    return judge_assertions(tests, first_failure_ends, candidate)


def report_of(judging):
    """Of a function that gives the cases or raises Unusable."""
    try:
        return {"verdict": "judged", "cases": judging()}
    except Unusable as error:
        return {"verdict": "unusable", "detail": str(error)}


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
