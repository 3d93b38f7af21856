# Known answers (RFC 0010): what tests ask whose outcome stands in their text, and the one answer to each
# question with which they pass. Found by a judge that has no candidate.
QUESTIONS_MAX = 1000
QUESTION_MAX = 32 << 10  # of one frame, in characters
TEXTS_MAX = 256 << 10  # of all questions and answers

# What may say another time something else: the judge would ask otherwise than it did when the
# answers became known. What is not here, an import among it, has no known answers.
UNSTEADY = {"breakpoint", "compile", "eval", "exec", "frozenset", "globals", "hash", "help", "id"}
UNSTEADY |= {"input", "locals", "memoryview", "object", "open", "set", "vars"}
STEADY_MODULES = {"collections", "functools", "itertools", "math", "operator", "string", "typing"}


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


def is_steady(text):
    """Whether tests say the same each time that they run."""
    for node in everything_in(parse(text, "tests")):
        kind = type(node)
        if kind in (_ast.Set, _ast.SetComp):
            return False
        if kind is _ast.Name and (node.id in UNSTEADY or node.id[:2] == "__"):
            return False
        if kind is _ast.Attribute and node.attr[:1] == "_":
            return False
        if kind is _ast.Import and any(one.name not in STEADY_MODULES for one in node.names):
            return False
        if kind is _ast.ImportFrom and (node.level or node.module not in STEADY_MODULES):
            return False
    return True


def sought_of_cases(tests):
    execute("call")
    seeker = Seeker()
    for args, kwargs, expected, _ in planned(tests):
        seeker.value(tests["entry_point"], args, kwargs).must_be(expected)
    return seeker.asked


def sought_of_assertions(job):
    execute("assert")
    if not (is_steady(job["tests"].get("prelude", "")) and is_steady(job["tests"]["source"])):
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
        if sum(len(answer) for _, answer in pairs) > TEXTS_MAX:
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
