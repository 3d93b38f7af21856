# Known answers (RFC 0010): what tests ask whose outcome stands in their text, and the one answer to each
# question with which they pass. Found by a judge that has no candidate.
QUESTIONS_MAX = 1000
QUESTION_MAX = 32 << 10  # of one frame, in characters
TEXTS_MAX = 256 << 10  # of all questions and answers

# Tests have known answers only if they ask the same each time that they run, in any interpreter. So they
# may use no more than this of Python: nothing that iterates by hash (a set, or what `&` makes of the
# keys of two dicts), and nothing that tells of the interpreter, of its modules or of the host.
STEADY_BUILTINS = """abs all any ascii bin bool bytearray bytes chr complex dict divmod enumerate filter
float format hex int isinstance issubclass iter len list map max min next oct ord pow print range repr
reversed round slice sorted str sum tuple zip""".split()
STEADY_MODULES = ("collections", "functools", "itertools", "math", "string", "typing")
VIEWS = ("items", "keys", "values")
ADDRESS = " at 0x"  # of an object, in its text


class NotKnown(Gone):
    def __init__(self):
        Gone.__init__(self, "not_known")


class Sought:
    """An answer of which only that is known what the tests compare it with."""

    __hash__ = None

    def __init__(self, seeker):
        self.seeker = seeker
        self.text = None

    def must_be(self, value):
        try:
            text = encoded(value, {})
        except NotAValue:
            self.seeker.give_up()
        if self.text is None:  # if not all is true of the first, it does not pass as an answer
            self.text = text

    def __eq__(self, other):
        self.must_be(other)
        return True

    def __bool__(self):
        self.must_be(True)
        return True


class Seeker:
    """What Channel is to the judge, with nobody at its other end: notes each question."""

    def __init__(self):
        self.calls = 0
        self.called_s = 0.0
        self.ended = None
        self.unanswered = None
        self.asked = []
        self.length = 0

    def give_up(self):
        self.ended = self.ended or NotKnown()
        raise self.ended

    def wait(self):
        pass

    def value(self, path, args, kwargs):
        self.calls += 1
        try:
            question = question_of(path, args, kwargs, [])
        except NotAValue:
            self.give_up()
        # The order of a set is another one in each interpreter.
        if '{"s":' in question or '{"z":' in question or self.calls > QUESTIONS_MAX:
            self.give_up()
        self.length += len(question)
        if len(question) > QUESTION_MAX or self.length > TEXTS_MAX:
            self.give_up()
        sought = Sought(self)
        self.asked.append((question, sought))
        return sought

    def last_call(self):
        return ""


class Recital(Channel):
    """The answers that were found, with nobody there who could give another one."""

    def __init__(self, pairs):
        Channel.__init__(
            self, {"greeted": True, "answered": [*pairs], "asked": None, "came_hex": ""}
        )

    def answer_to(self, question):
        if not self.answered:
            raise Ended
        return Channel.answer_to(self, question)


def public_names(module):
    names = vars(__import__(module))
    return names.get("__all__") or [name for name in names if name[0] != "_"]


def is_steady_import(node):
    if type(node) is _ast.Import:
        return all(one.name in STEADY_MODULES for one in node.names)
    if node.level or node.module not in STEADY_MODULES:
        return False
    return all(one.name == "*" or one.name in public_names(node.module) for one in node.names)


def is_steady_name(name):
    if name in builtin_names:
        kind = builtin_names[name]
        return name in STEADY_BUILTINS or is_exception(kind)
    return name[:2] != "__"


def is_steady(texts):
    """Whether all that tests use of Python is steady."""
    nodes = [node for text in texts for node in everything_in(parse(text, "tests"))]
    modules = {
        one.asname or one.name: one.name
        for node in nodes
        if type(node) is _ast.Import
        for one in node.names
    }
    iterated = [node.iter for node in nodes if type(node) in (_ast.For, _ast.comprehension)]
    views = [node.func for node in iterated if type(node) is _ast.Call]
    members = [n for n in nodes if type(n) is _ast.Attribute and is_name(n.value, modules)]
    of_modules = [n.value for n in members]
    for node in nodes:
        kind = type(node)
        if kind in (_ast.Set, _ast.SetComp, _ast.ClassDef):
            return False
        if kind in (_ast.Import, _ast.ImportFrom) and not is_steady_import(node):
            return False
        if kind is _ast.Name:
            if not is_steady_name(node.id):
                return False
            if node.id in modules and not any(node is one for one in of_modules):
                return False
        if kind is _ast.Attribute:
            if node.attr[0] == "_":
                return False
            if node.attr in VIEWS and not any(node is one for one in views):
                return False
    return all(n.attr in public_names(modules[n.value.id]) for n in members)


def sought_of_cases(tests):
    execute("call")
    seeker = Seeker()
    for args, kwargs, expected, _ in planned(tests):
        seeker.value(tests["entry_point"], args, kwargs).must_be(expected)
    return seeker.asked


def sought_of_assertions(job):
    execute("assert")
    if not is_steady((job["tests"].get("prelude", ""), job["tests"]["source"])):
        raise NotKnown
    seeker = Seeker()
    judge(job, seeker)
    return seeker.asked


def known_answers(job):
    """One line of JSON: null, or {"cases": how many, "questions": [[text, answer, case], ..]}. text
    and answer are without the token, case is null of a question that is no case's."""
    tests = job["tests"]
    try:
        is_call = tests["kind"] == "call"
        asked = sought_of_cases(tests) if is_call else sought_of_assertions(job)
        pairs = [[question, answer_of(sought.text)] for question, sought in asked]
        texts = [text for pair in pairs for text in pair]
        if sum(map(len, texts)) > TEXTS_MAX or any(ADDRESS in text for text in texts):
            raise NotKnown
        cases = judge(job, Recital(pairs))
    except (Unusable, NotKnown):
        return "null\n"
    case_of = {call: number for number, one in enumerate(cases) for call in one["calls"]}
    if not all(one["passed"] for one in cases):
        return "null\n"
    parts = [
        "[%s,%s,%s]" % (quoted(question), quoted(answer), case_of.get(number, "null"))
        for number, (question, answer) in enumerate(pairs)
    ]
    return '{"cases":%d,"questions":[%s]}\n' % (len(cases), ",".join(parts))


def answer_of(text):
    if text is None:
        raise NotKnown
    return ',"value",%s,[]]' % text
