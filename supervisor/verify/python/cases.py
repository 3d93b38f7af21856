# Tests of the kind `call`: each case calls the entry point and compares what comes back.


def from_request(value, place):
    """A value of a request (RFC 0010, Values) as Python's own."""

    def refuse(why):
        raise Unusable("%s: %s" % (place, why))

    if type(value) is list:
        return [from_request(v, place) for v in value]
    if type(value) is not dict:
        return value
    if len(value) != 1 or next(iter(value))[:1] != "$":
        return {k: from_request(v, place) for k, v in value.items()}
    [(tag, content)] = value.items()
    try:
        if tag == "$bytes":
            from binascii import a2b_base64

            return a2b_base64(content)
        if tag == "$float" and content in ("nan", "inf", "-inf"):
            return float(content)
        if tag == "$int" and type(content) is str:
            return int(content)
        content = from_request(content, place)
        if type(content) is not list:
            refuse("%s wants an array" % tag)
        if tag == "$tuple":
            return tuple(content)
        if tag == "$complex" and len(content) == 2:
            return complex(*content)
        if tag in ("$set", "$frozenset"):
            made = {"$set": set, "$frozenset": frozenset}[tag](content)
        elif tag == "$dict" and all(type(p) is list and len(p) == 2 for p in content):
            made = dict(content)
        else:
            refuse("unknown %s" % tag)
    except (TypeError, ValueError) as error:
        refuse("%s: %s" % (tag, error))
    if len(made) != len(content):
        refuse("%s: an element twice" % tag)
    return made


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


def judge_cases(tests, first_failure_ends, candidate):
    path = tests["entry_point"]
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
    try:
        candidate.wait()
    except Gone as gone:
        return all_for(gone, len(plan))
    cases = []
    for args, kwargs, expected, equal in plan:
        called_with = "%s(%s)" % (path, shown([*args, kwargs] if kwargs else args)[1:-1])
        started = perf_counter()
        try:
            got = candidate.value(path, args, kwargs)
            took = perf_counter() - started
            if equal(expected, got):
                cases.append(case("passed", "", took))
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


def all_for(gone, count):
    """Nothing was asked: code that does not load fails each case, an end the one that would run."""
    if gone.cause == "does_not_load":
        return [case(gone.cause, gone.detail)] * count
    return [case(gone.cause, gone.detail)] + [case("not_reached")] * (count - 1)
