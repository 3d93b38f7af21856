# The judge: holds the tests, asks over the channel, compares with its own values.
from _thread import RLock


class AskedOtherwise(Unusable):
    """Than the daemon has asked the candidate before the judge went on."""

    verdict = "unsteady"


class Channel:
    """The candidate, as far as it is believed: each answer is checked for its form and its turn,
    and is no more than a claim about what a function returned."""

    def __init__(self, so_far=None):
        """so_far: the dialogue that the daemon has had with the candidate, see judge_job.hpp."""
        self.greeted = so_far is not None and so_far["greeted"]
        self.answered = so_far["answered"] if so_far else []
        self.answered.reverse()  # the next one is the last
        self.asked = so_far["asked"] if so_far else None
        if so_far:
            came.extend(bytes.fromhex(so_far["came_hex"]))
        self.calls = 0
        self.answers = 0
        self.may_pass_on = True  # what the candidate returned, as an argument: tests of the kind assert
        self.called_s = 0.0
        self.waited_s = 0.0  # while it was the candidate's turn
        self.ended = None
        self.unanswered = None  # the last call that gave no value, until an assertion failed for it
        self.last = None
        self.lock = RLock()  # a test may have threads

    def gone(self, cause, detail=""):
        self.ended = self.ended or Gone(cause, detail)
        raise self.ended

    def waiting(self, step, *words):
        started = perf_counter()
        try:
            return step(*words)
        finally:
            self.waited_s += perf_counter() - started

    def wait(self):
        if self.greeted:
            return
        try:
            message = decoded(self.waiting(receive), [])
            if message == ["ready"]:
                return
            if type(message) is list and len(message) == 2 and message[0] == "does_not_load":
                return self.gone("does_not_load", as_text(message[1]))
            self.gone("protocol", "no greeting")
        except Ended:
            self.gone("ended")
        except Malformed as error:
            self.gone("protocol", str(error))

    def value(self, path, args, kwargs):
        with self.lock:
            if self.ended:
                raise self.ended
            self.calls += 1
            started = perf_counter()
            try:
                return self.call(path, args, kwargs)
            except Ended:
                self.gone("ended")
            except Malformed as error:
                self.gone("protocol", str(error))
            finally:
                self.called_s += perf_counter() - started

    def call(self, path, args, kwargs):
        table = []
        try:
            question = question_of(path, args, kwargs, table)
        except NotAValue as error:
            self.cannot_ask(path, error)
        token, text = self.answer_to(question)
        message = decoded(text, table)
        if type(message) is not list or len(message) != 4 or type(message[0]) is not int:
            raise Malformed("no answer")
        if message[0] != token:
            raise Malformed("an answer to another question")
        _, kind, payload, changes = message
        change(table, changes)
        self.answers += 1
        if kind == "value":
            bounded(payload)
            self.last = (path, args, payload)
            return payload
        self.last = None
        if kind == "raised":
            raise exception_of(payload)
        if kind in ("not_a_value", "no_entry_point"):
            self.unanswered = NoAnswer(kind, as_text(payload))
            raise self.unanswered
        raise Malformed("no answer")

    def answer_to(self, question):
        """The question's token, and the text of the answer."""
        if self.answered:
            asked, answer = self.answered.pop()
            self.is_same(asked, question)
            return 0, "[0" + answer
        if self.asked is not None:
            (token, asked), self.asked = self.asked, None
            self.is_same(asked, question)
        else:
            # Nobody who has not read it knows the token: no answer can be there before the question.
            token = int.from_bytes(os.urandom(6), "big")
            self.waiting(send, "[%d" % token + question)
        return token, self.waiting(receive)

    def is_same(self, asked, question):
        if asked != question:
            raise AskedOtherwise("the tests do not ask the same each time: " + question[1:TEXT_MAX])

    def cannot_ask(self, path, error):
        """Of what kind an argument is the tests say, how large a value is may be the candidate's
        doing as soon as there is one: then it must not get out of having a number."""
        if isinstance(error, TooLarge) and self.may_pass_on and self.answers:
            why = "an argument of %s, after the first answer: %s" % (path, error)
            self.last = None
            self.unanswered = NoAnswer("not_a_value", why)
            raise self.unanswered
        raise Unusable("an argument of %s is no value: %s" % (path, error))

    def last_call(self):
        if self.last is None:
            return ""
        path, args, value = self.last
        return "%s(%s) returned %s" % (path, ", ".join(map(shown, args)), shown(value))


def question_of(path, args, kwargs, table):
    """What is asked, behind the token that makes it a question. The arguments' lists, dicts and
    sets go into the table."""
    known = {}
    sent = ",".join([encoded(v, known, table) for v in args])
    named = ["[%s,%s]" % (quoted(k), encoded(v, known, table)) for k, v in kwargs.items()]
    return within_bounds(",%s,[%s],[%s]]" % (quoted(path), sent, ",".join(named)))


def as_text(value):
    if type(value) is not str:
        raise Malformed("no text")
    return value[:TEXT_MAX]


def change(table, changes):
    """Puts what the candidate did to the arguments into the judge's own objects."""
    for pair in listed(changes):
        if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not int:
            raise Malformed("no change")
        number, content = pair
        if not 0 <= number < len(table):
            raise Malformed("a change of nothing")
        own = table[number]
        # By the methods of its own class, which may keep more than its base does: OrderedDict, say.
        for kind in (list, dict, set):
            if isinstance(own, kind) and type(content) is kind:
                own.clear()
                if kind is dict:
                    for key, value in content.items():
                        own[key] = value
                else:
                    (own.extend if kind is list else own.update)(content)
                break
        else:
            raise Malformed("a change of type")
    if changes:
        bounded(table)


def exception_of(payload):
    """An exception of the judge's own: the first builtin one of the names, from the class upwards.
    StopIteration is none: a for loop of the tests would take it for its end."""
    if type(payload) is not list or len(payload) != 3 or len(listed(payload[0])) > 100:
        raise Malformed("no exception")
    names, args, text = payload
    bounded(args)
    as_text(text)
    for name in names:
        kind = builtin_exception(name)
        if kind is not None:
            try:
                return kind(*(args if type(args) is list else [text]))
            except Exception:  # an ExceptionGroup wants exceptions, say
                break
    return CandidateError(text[:TEXT_MAX])


def builtin_exception(name):
    import builtins

    kind = getattr(builtins, name, None) if type(name) is str else None
    if type(kind) is not type or not issubclass(kind, Exception):
        return None
    if kind is Exception or issubclass(kind, (StopIteration, StopAsyncIteration)):
        return None
    return kind


PARTS["known"] = KNOWN


def output_for(text):
    try:
        job = json_of(text)
        if job.get("known"):
            execute("known")
            return known_answers(job)
        os.set_inheritable(CHANNEL, False)
        candidate = Channel(job.get("so_far"))
        return printed(report_of(lambda: judge(job, candidate), candidate))
    except Unusable as error:
        return printed({"verdict": error.verdict, "detail": str(error)})


def main():
    output_to = os.dup(1)
    os.dup2(2, 1)  # what the tests print
    rest = memoryview(output_for(everything(0).decode("utf-8")).encode("ascii"))
    while rest:
        rest = rest[os.write(output_to, rest):]
    sys.stderr.flush()
    os._exit(0)


main()
