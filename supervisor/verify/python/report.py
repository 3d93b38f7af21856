# The report's cases, and what ends a test. Each is a BaseException, so that a test's own
# `except Exception` does not take it for something that the candidate raised.
from time import perf_counter

DETAIL_MAX = 300
DETAILS_MAX = 1 << 18  # of all cases together
CASES_MAX = 10_000


class Unusable(BaseException):
    """The tests cannot be used, whatever the candidate does."""

    verdict = "unusable"


class Gone(BaseException):
    """Nothing more can be asked of the candidate."""

    def __init__(self, cause, detail=""):
        self.cause = cause
        self.detail = detail


class NoAnswer(BaseException):
    """This call gave no value that a test could look at."""

    def __init__(self, cause, detail):
        self.cause = cause
        self.detail = detail


class FirstFailure(BaseException):
    """stop: first_fail."""


class CandidateError(Exception):
    """What the candidate raised, where Python has no exception of that name."""


def case(cause, detail="", wall_s=None, calls=()):
    """calls: the numbers of those of the candidate that it took."""
    return {
        "calls": calls,
        "passed": cause == "passed",
        "cause": cause,
        "detail": detail,
        "wall_ms": None if wall_s is None else round(wall_s * 1e3, 3),
    }


def all_for(gone, count):
    """Nothing was asked: code that does not load fails each case, an end the one that would run."""
    if gone.cause == "does_not_load":
        return [case(gone.cause, gone.detail)] * count
    return [case(gone.cause, gone.detail)] + [case("not_reached")] * (count - 1)


def shown(value):
    try:
        text = repr(value)
    except Exception:  # of an integer with too many digits, say
        text = "a value of type " + type(value).__name__
    return text if len(text) <= 120 else text[:117] + "..."


def printed(report):
    """One line of JSON. What the candidate said is in the details: cut, and made proper UTF-8."""
    room = DETAILS_MAX
    cases = []
    for one in report.get("cases", ()):
        detail = one["detail"][: min(DETAIL_MAX, room)]
        room -= len(detail)
        cases.append(
            '{"passed":%s,"cause":"%s","detail":%s,"wall_ms":%s}'
            % (
                "true" if one["passed"] else "false",
                one["cause"],
                as_json(detail),
                "null" if one["wall_ms"] is None else repr(one["wall_ms"]),
            )
        )
    if report["verdict"] != "judged":
        detail = as_json(report["detail"][:TEXT_MAX])
        return '{"verdict":"%s","detail":%s}\n' % (report["verdict"], detail)
    waited_ms = repr(round(report["waited_s"] * 1e3, 3))
    return '{"verdict":"judged","cases":[%s],"waited_ms":%s}\n' % (",".join(cases), waited_ms)


def as_json(text):
    return quoted(text.encode("utf-8", "backslashreplace").decode("utf-8"))
