# From the job to the report.


def judge(job, candidate):
    tests = job["tests"]
    first_failure_ends = job["stop"] == "first_fail"
    try:
        if tests["kind"] == "call":
            cases = judge_cases(tests, first_failure_ends, candidate)
        else:
            cases = judge_assertions(tests, first_failure_ends, candidate)
    except Unusable as error:
        return {"verdict": "unusable", "detail": str(error)}
    return {"verdict": "judged", "cases": cases}


class Json:
    """make_scanner's settings: JSON as the daemon writes it."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float
    memo = {}


def job_of(text):
    value, _ = make_scanner(Json)(text, 0)
    return value
