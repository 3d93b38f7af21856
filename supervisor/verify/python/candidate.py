# The candidate's side of the channel. All that it says is a claim: the judge decides. Whatever the
# code under test does to this program, it can only say something else.



def content_of(value):
    if type(value) is dict:
        return [*value], [*value.values()]
    return [*value], None


def is_as_before(value, before):
    """By the elements' identity: equal is not enough, 1 and True are."""
    now = content_of(value)
    if type(value) is set:
        return {*map(id, now[0])} == {*map(id, before[0])}
    return all(
        a is b or (len(a) == len(b) and all(map(same_object, a, b))) for a, b in zip(now, before)
    )


def changes(table, before):
    known = {id(value): number for number, value in enumerate(table)}
    parts = []
    for number, value in enumerate(table):
        if not is_as_before(value, before[number]):
            others = {**known}
            del others[id(value)]
            parts.append("[%d,%s]" % (number, encoded(value, others)))
    return known, "[" + ",".join(parts) + "]"


def raised(error):
    """The names of its class and those above, as far as they are Python's own, what it was made of,
    if that is plain, and its text."""
    names = [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"]
    text = described(error)
    try:
        return encoded([names, [*error.args], text], {})
    except BaseException:
        return encoded([names, None, text], {})


def answer(module, text):
    table = []
    token, path, args, kwargs = decoded(text, table, numbering=True)
    before = [content_of(value) for value in table]
    kind, payload, result = "value", None, None
    try:
        result = entry_point(module, path)(*args, **dict(kwargs))
    except NoEntryPoint as error:
        kind, payload = "no_entry_point", quoted(str(error))
    except BaseException as error:
        kind, payload = "raised", raised(error)
    try:
        known, changed = changes(table, before)
        if kind == "value":
            payload = encoded(result, known)
    except NotAValue as error:
        changed = "[]"
        if kind == "value":
            kind, payload = "not_a_value", quoted(str(error))
    try:
        return within_bounds('[%d,"%s",%s,%s]' % (token, kind, payload, changed))
    except TooLarge as error:
        return '[%d,"not_a_value",%s,[]]' % (token, quoted(str(error)))


def main():
    os.set_inheritable(CHANNEL, False)
    module, why = load(everything(0))
    try:
        send('["ready"]' if module else '["does_not_load",%s]' % quoted(why))
        while module:
            send(answer(module, receive()))
    except Ended:
        pass
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    os._exit(0)  # its threads and exit handlers have nothing left to say


from _operator import is_ as same_object

main()
