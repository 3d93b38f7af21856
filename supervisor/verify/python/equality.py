# When a returned value is the expected one (RFC 0010, Values): types count, but an expected list is
# any sequence, and int and float compare by value. Both sides are the judge's own plain values.


def tokens(value, loose=False):
    """Equal for equal values and for no others. loose: without telling a list from a tuple."""
    kind = type(value)
    if kind is int or kind is float:
        return ("number", value) if value == value else ("nan",)
    if kind in (list, tuple):
        name = "sequence" if loose else kind.__name__
        return (name, tuple([tokens(v, loose) for v in value]))
    if kind in (set, frozenset):
        return (kind.__name__, frozenset([tokens(v, loose) for v in value]))
    if kind is dict:
        pairs = [(tokens(k, loose), tokens(v, loose)) for k, v in value.items()]
        return ("dict", frozenset(pairs))
    if kind is complex:
        return ("complex", tokens(value.real), tokens(value.imag))
    return (kind.__name__, value)


def same_number(expected, got, epsilon):
    if expected == got or (expected != expected and got != got):
        return True
    if epsilon is None:
        return False
    try:
        return abs(expected - got) <= max(epsilon, epsilon * abs(expected)) < INFINITY
    except OverflowError:  # an integer that no float holds
        return False


INFINITY = float("inf")


def same(expected, got, epsilon=None):
    kind = type(expected)
    if kind is int or kind is float:
        return type(got) in (int, float) and same_number(expected, got, epsilon)
    if kind is list:
        return type(got) in (list, tuple) and same_items(expected, got, epsilon)
    if type(got) is not kind:
        return False
    if kind is tuple:
        return same_items(expected, got, epsilon)
    if kind is dict:
        if len(expected) != len(got):
            return False
        values = {tokens(k): v for k, v in got.items()}
        return all(
            tokens(k) in values and same(v, values[tokens(k)], epsilon)
            for k, v in expected.items()
        )
    if kind in (set, frozenset):
        return len(expected) == len(got) and same_elements(expected, got, epsilon)
    if kind is complex:
        return same_number(expected.real, got.real, epsilon) and same_number(
            expected.imag, got.imag, epsilon
        )
    return expected == got


def same_items(expected, got, epsilon):
    return len(expected) == len(got) and all(same(e, g, epsilon) for e, g in zip(expected, got))


def same_elements(expected, got, epsilon):
    """Of sets of one size. Within an epsilon what is not equal pairs up in order."""
    wanted = {tokens(v): v for v in expected}
    rest = [v for v in got if wanted.pop(tokens(v), wanted) is wanted]
    if epsilon is None or not rest:
        return not rest
    if any(type(v) not in (int, float) for v in [*rest, *wanted.values()]):
        return False
    return same_items(sorted(wanted.values()), sorted(rest), epsilon)


def tuples_in(value):
    kind = type(value)
    if kind is dict:
        return sum(map(tuples_in, value.values()))
    return (kind is tuple) + (sum(map(tuples_in, value)) if kind in (list, tuple) else 0)


def same_multiset(expected, got):
    """Lists whose elements pair up, in any order."""
    if type(got) not in (list, tuple) or len(expected) != len(got):
        return False
    groups = {}
    for v in expected:
        groups.setdefault(tokens(v, loose=True), []).append(v)
    # A tuple that is expected is more particular than a list, which takes either: it picks first.
    for group in groups.values():
        group.sort(key=tuples_in)
    matched = {key: [] for key in groups}
    for v in got:
        key = tokens(v, loose=True)
        if key not in matched:
            return False
        matched[key].append(v)
    for key, group in groups.items():
        rest = matched[key]
        if len(rest) != len(group):
            return False
        while group:
            wanted = group.pop()
            at = next((i for i, v in enumerate(rest) if same(wanted, v)), None)
            if at is None:
                return False
            del rest[at]
    return True
