# Tests of the kind `call`: each case calls the entry point and compares what comes back.
TAGS = {
    "$tuple": tuple,
    "$set": set,
    "$frozenset": frozenset,
    "$dict": dict,
    "$complex": lambda parts: complex(*parts),
}
REAL = ("nan", "inf", "-inf")


def from_base64(text):
    from binascii import a2b_base64, b2a_base64

    made = a2b_base64(text)
    if b2a_base64(made, newline=False) != text.encode():
        raise ValueError("wants base64")
    return made


def tagged(tag, content):
    """The value of {tag: content}, the content's own values made already."""
    if tag == "$bytes":
        return from_base64(content)
    if tag == "$float":
        if content not in REAL:
            raise ValueError("wants one of " + ", ".join(REAL))
        return float(content)
    if tag not in TAGS:
        raise ValueError("is unknown")
    if type(content) is not list:
        raise ValueError("wants an array")
    made = TAGS[tag](content)
    if tag in ("$set", "$frozenset", "$dict") and len(made) != len(content):
        raise ValueError("has an element twice")
    return made


def from_request(value, place, depth=0):
    """A value of a request (RFC 0010, Values) as Python's own."""
    if depth > DEPTH_MAX:
        raise Unusable(place + ": more than 64 levels deep")
    if type(value) is list:
        return [from_request(v, place, depth + 1) for v in value]
    if type(value) is not dict:
        return value
    if len(value) != 1 or next(iter(value))[:1] != "$":
        return {k: from_request(v, place, depth + 1) for k, v in value.items()}
    [(tag, content)] = value.items()
    try:
        return tagged(tag, from_request(content, place, depth))
    except (TypeError, ValueError, AttributeError) as error:
        raise Unusable("%s: %s: %s" % (place, tag, error))


def checker_of(one, place):
    checker = one.get("checker", "exact")
    expected = from_request(one["expected"], place + ".expected")
    if checker == "exact":
        return expected, same
    if checker == "unordered":
        if type(expected) not in (list, tuple):
            raise Unusable(place + ".expected: unordered wants an array")
        return expected, same_multiset
    if type(checker) is dict and list(checker) == ["float"]:
        epsilon = checker["float"]
        if type(epsilon) in (int, float) and 0 <= epsilon < INFINITY:
            return expected, lambda e, g: same(e, g, epsilon)
    raise Unusable(place + ".checker: unknown")


def planned(tests):
    """Of each case the arguments, what is expected, and how that is compared."""
    plan = []
    for number, one in enumerate(tests["cases"]):
        place = "tests.cases[%d]" % number
        args = from_request(one["args"], place + ".args")
        kwargs = from_request(one.get("kwargs", {}), place + ".kwargs")
        if type(args) is not list or type(kwargs) is not dict:
            raise Unusable(place + ": args wants an array, kwargs an object")
        plan.append((args, kwargs, *checker_of(one, place)))
    if not plan:
        raise Unusable("tests.cases: must not be empty")
    return plan


def judge_cases(tests, first_failure_ends, candidate):
    path = tests["entry_point"]
    candidate.may_pass_on = False
    plan = planned(tests)
    try:
        candidate.wait()
    except Gone as gone:
        return all_for(gone, len(plan))
    cases = []
    for args, kwargs, expected, equal in plan:
        called_with = "%s(%s)" % (path, ", ".join(map(shown, [*args, kwargs] if kwargs else args)))
        started = perf_counter()
        try:
            got = candidate.value(path, args, kwargs)
            took = perf_counter() - started
            if equal(expected, got):
                cases.append(case("passed", "", took, [len(cases)]))
            else:
                detail = "%s: expected %s, got %s" % (called_with, shown(expected), shown(got))
                cases.append(case("wrong_answer", detail, took))
        except Gone as gone:
            cases.append(case(gone.cause, gone.detail, perf_counter() - started))
            break
        except NoAnswer as none:
            cases.append(case(none.cause, none.detail, perf_counter() - started))
        except Unusable:
            raise
        except BaseException as error:
            cases.append(case("raised", described(error), perf_counter() - started))
        if first_failure_ends and not cases[-1]["passed"]:
            break
    return cases + [case("not_reached")] * (len(plan) - len(cases))
