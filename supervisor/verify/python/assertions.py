# Tests of the kind `assert`: Python source in which each assert statement is a case. The statements
# are rewritten so that they report and go on; how, and what is left as Python has it, says RFC 0010
# under Assertions. _ast and not ast: see values.py.
AST_ONLY = 0x400  # ast.PyCF_ONLY_AST
LOOPS = (_ast.For, _ast.AsyncFor, _ast.While)
TRIES = (_ast.Try, getattr(_ast, "TryStar", _ast.Try))

CAUGHT = """
__paddock__.catching.append(lambda: kinds)
try: body
finally: __paddock__.catching.pop()
"""


def template(text, place):
    statements = compile(text, "tests", "exec", AST_ONLY).body
    return [located(statement, place) for statement in statements]


def rewritten_assertion(node, number):
    """What stands for an assert statement, made node by node: there are many, and parsing takes long.

    try:
        __paddock__.begins()
        if TEST: __paddock__.passed(NUMBER)
        else: __paddock__.failed(NUMBER, MESSAGE)
    except BaseException: __paddock__.raised(NUMBER)
    """
    place = {name: getattr(node, name) for name in node._attributes}
    load = _ast.Load()

    def say(what, *words):
        recorder = _ast.Attribute(_ast.Name("__paddock__", load, **place), what, load, **place)
        return _ast.Expr(_ast.Call(recorder, [*words], [], **place), **place)

    number = _ast.Constant(number, **place)
    message = node.msg or _ast.Constant(None, **place)
    branch = _ast.If(node.test, [say("passed", number)], [say("failed", number, message)], **place)
    kind = _ast.Name("BaseException", load, **place)
    handler = _ast.ExceptHandler(kind, None, [say("raised", number)], **place)
    return _ast.Try([say("begins"), branch], [handler], [], [], **place)


def located(tree, place):
    for node in everything_in(tree):
        if "lineno" in node._attributes:
            node.lineno = node.end_lineno = place.lineno
            node.col_offset = node.end_col_offset = place.col_offset
    return tree


def says_nothing(test):
    """True of a test that holds whatever the candidate does: a constant, or a tuple by mistake."""
    if type(test) is _ast.Tuple:
        return bool(test.elts)
    return type(test) is _ast.Constant and bool(test.value)


def caught_kinds(node):
    """An expression of what a try or with statement takes out of its body, or None. Of a with
    statement (suppress, raises) the builtin exceptions that it names."""
    if isinstance(node, TRIES):
        kinds = [h.type or _ast.Name("BaseException", _ast.Load()) for h in node.handlers]
    else:
        kinds = [
            n
            for item in node.items
            for n in everything_in(item.context_expr)
            if type(n) is _ast.Name and is_exception(builtin_names.get(n.id))
        ]
    return _ast.Tuple(kinds, _ast.Load()) if kinds else None


def is_exception(value):
    return type(value) is type and issubclass(value, BaseException)


class Statement:
    """One assert statement of the tests, and what became of it."""

    def __init__(self, node, text, asks_by_itself):
        self.line = node.lineno
        self.text = text
        self.never = type(node.test) is _ast.Constant  # assert False: not to be reached
        self.near = False  # what it stands in was reached
        self.asks_by_itself = asks_by_itself  # reads nothing that an earlier call may have given
        self.ran = False
        self.says_nothing = False  # it passed without the candidate
        self.cause = ""
        self.detail = ""
        self.wall_s = 0.0
        self.calls = []

    def as_case(self):
        if self.cause:
            return case(self.cause, self.detail, self.wall_s, self.calls)
        return case("passed", "", self.wall_s if self.ran else None, self.calls)


    def counts(self, to_the_end):
        """to_the_end: the test ran to its end, so what did not run was not meant to."""
        if self.ran:
            return True
        return (self.never and self.near) if to_the_end else not self.says_nothing


class Recorder:
    """`__paddock__` in the rewritten source."""

    def __init__(self, candidate, first_failure_ends):
        self.candidate = candidate
        self.first_failure_ends = first_failure_ends
        self.statements = []
        self.catching = []  # what the try statements around take, at the moment
        self.ended = None  # what ended the test: a bare `except:` of it cannot undo that
        self.called_s = 0.0  # up to the last assertion that was through
        self.counted = 0  # calls up to there
        self.calls = 0  # up to the last assertion that was begun

    def near(self, *numbers):
        for number in numbers:
            self.statements[number].near = True

    def begins(self):
        self.calls = self.candidate.calls

    def is_caught(self, error):
        try:
            return any(isinstance(error, kinds()) for kinds in self.catching)
        except Exception:  # Python would have found that out only now, too
            return True

    def took(self, statement):
        statement.ran = True
        statement.wall_s += self.candidate.called_s - self.called_s
        self.called_s = self.candidate.called_s
        statement.calls += range(self.counted, self.candidate.calls)
        self.counted = self.candidate.calls

    def goes_on(self):
        if self.ended is None:
            self.ended = self.candidate.ended
        if self.ended is not None:
            raise self.ended

    def passed(self, number):
        self.goes_on()
        if self.fails_unanswered(number):
            return
        statement = self.statements[number]
        calls = self.candidate.calls
        if calls == 0 or (statement.asks_by_itself and calls == self.calls):
            statement.says_nothing = True
        else:
            self.took(statement)

    def failed(self, number, message):
        self.goes_on()
        if self.fails_unanswered(number):
            return
        error = AssertionError() if message is None else AssertionError(message)
        if self.is_caught(error):
            raise error
        self.fails(number, "wrong_answer", "" if message is None else shown(message))

    def raised(self, number):
        error = sys.exc_info()[1]
        if isinstance(error, (Unusable, Gone, FirstFailure)):
            self.ended = self.ended or error
            raise
        if isinstance(error, GeneratorExit):  # the tests close a generator that stands at the assert
            raise
        if isinstance(error, NoAnswer):
            self.fails(number, error.cause, error.detail)
        elif self.is_caught(error):
            raise
        else:
            self.fails(number, "raised", described(error))

    def fails_unanswered(self, number):
        """A bare `except:` of the tests takes a call without an answer for one that raised: the
        next assertion fails for it."""
        none = self.candidate.unanswered
        if none is not None:
            self.fails(number, none.cause, none.detail)
        return none is not None

    def fails(self, number, cause, detail):
        self.candidate.unanswered = None
        statement = self.statements[number]
        self.took(statement)
        if not statement.cause:
            last = self.candidate.last_call()
            parts = ["line %d: %s" % (statement.line, statement.text), last, detail]
            statement.cause = cause
            statement.detail = "; ".join(part for part in parts if part)
        if self.first_failure_ends:
            self.ended = FirstFailure()
            raise self.ended


class Rewriter:
    def __init__(self, source, names, statements, kept_at_top):
        self.names = names  # the candidate's
        self.never = []  # the numbers of assert False whose surroundings are being rewritten
        self.lines = source.splitlines()
        self.statements = statements
        self.kept_at_top = kept_at_top

    def block(self, statements, in_function):
        result = []
        for statement in statements:
            result += self.statement(statement, in_function)
        return result

    def statement(self, node, in_function):
        if type(node) is _ast.Assert:
            if says_nothing(node.test) or (self.kept_at_top and not in_function):
                return [node]
            rewritten = self.assertion(node)
            if self.statements[-1].never:
                self.never.append(len(self.statements) - 1)
            return rewritten
        outside, self.never = self.never, []
        in_function = in_function or isinstance(node, FUNCTIONS)
        for child in [node, *children(node)]:  # a handler or a match case has a block of its own
            for name in ("body", "orelse", "finalbody"):
                block = getattr(child, name, None)
                if type(block) is list and block and isinstance(block[0], _ast.stmt):
                    if child is node or not isinstance(child, _ast.stmt):
                        setattr(child, name, self.block(block, in_function))
        if isinstance(node, (*TRIES, _ast.With, _ast.AsyncWith)):
            kinds = caught_kinds(node)
            if kinds is not None:
                node.body = self.caught(node, kinds)
        never, self.never = self.never, outside
        if not never:
            return [node]
        call = "__paddock__.near(%s)" % ", ".join(map(str, never))
        if not isinstance(node, (*FUNCTIONS, _ast.ClassDef)):
            return [*template(call, node), node]
        node.body[:0] = template(call, node)
        return [node]

    def asks_by_itself(self, test):
        """Whether all that the test reads is builtin or the candidate's: `assert callable(f)`,
        `assert 1 + 1 == 2`. Without a call it holds whatever the candidate does."""
        known = self.names | set(builtin_names)
        return all(n.id in known for n in everything_in(test) if type(n) is _ast.Name)

    def assertion(self, node):
        text = self.lines[node.lineno - 1].strip() if node.lineno <= len(self.lines) else ""
        number = len(self.statements)
        if number == CASES_MAX:
            raise Unusable("more than 10,000 assertions")
        self.statements.append(Statement(node, text[:160], self.asks_by_itself(node.test)))
        return [rewritten_assertion(node, number)]

    def caught(self, node, kinds):
        up, around = template(CAUGHT, node)
        up.value.args[0].body = located(kinds, node)
        around.body = node.body
        return [up, around]


def parse(source, name):
    try:
        return compile(source, name, "exec", AST_ONLY)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = " line %d:" % error.lineno if getattr(error, "lineno", None) else ""
        why = getattr(error, "msg", None) or described(error)
        raise Unusable("%s do not parse:%s %s" % (name, line, why))


class Function:
    """A function of the candidate, as the tests see it, or a class that they make instances of."""

    def __init__(self, candidate, path, is_class=False):
        self.__name__ = self.__qualname__ = path
        self._candidate = candidate
        self._is_class = is_class

    def __call__(self, /, *args, **kwargs):
        if self._is_class and not args and not kwargs:  # each call of a method makes its own
            return Function(self._candidate, self.__name__ + "()")
        return self._candidate.value(self.__name__, args, kwargs)

    def __getattr__(self, name):
        if name[:1] == "_":  # what Python itself looks for, a copy before it is one included
            raise AttributeError(name)
        return Function(self._candidate, self.__name__ + "." + name)


def is_check(node):
    return isinstance(node, FUNCTIONS) and node.name == "check"


def refuse_others(source, test_functions, read):
    """What a framework would run, and we do not: no number, rather than that of the rest."""
    for node in source.body:
        if getattr(node, "name", "") in test_functions:
            given = node.args
            required = len(given.posonlyargs) + len(given.args) - len(given.defaults)
            if required > 0 or None in given.kw_defaults:
                raise Unusable("%s has parameters: nobody gives it any" % node.name)
            if type(node) is _ast.AsyncFunctionDef:
                raise Unusable("%s is asynchronous, and nobody awaits it" % node.name)
        if type(node) is _ast.ClassDef and node.name[:4] == "Test" and node.name not in read:
            if any(getattr(one, "name", "")[:5] == "test_" for one in node.body):
                raise Unusable("nobody makes a %s: use functions" % node.name)
    for node in everything_in(source):
        if type(node) is _ast.ClassDef:
            for base in node.bases:
                name = getattr(base, "attr", getattr(base, "id", ""))
                if name.endswith("TestCase"):
                    raise Unusable("unittest.TestCase is not supported: use assert")


class Plan:
    """What of the tests is run, and with what for the candidate's names."""

    def __init__(self, tests):
        self.texts = (tests.get("prelude", ""), tests["source"])
        self.trees = (parse(self.texts[0], "tests.prelude"), parse(self.texts[1], "tests.source"))
        self.paths = tests.get("entry_points") or [tests.get("entry_point", "")]
        prelude, source = self.trees
        read = {
            n.id
            for n in everything_in(source)
            if type(n) is _ast.Name and type(n.ctx) is _ast.Load
        }
        self.parameters = {
            a.arg for n in source.body if is_check(n) for a in [*n.args.posonlyargs, *n.args.args]
        }
        self.test_functions = [
            n.name
            for n in source.body
            if isinstance(n, FUNCTIONS) and n.name.startswith("test_") and n.name not in read
        ]
        refuse_others(source, self.test_functions, read)
        self.stubs = set() if any(self.paths) else {n.name for n in prelude.body if is_stub(n)}
        defined = {n.name for tree in self.trees for n in tree.body if isinstance(n, FUNCTIONS)}
        self.calls_check = "check" in defined and "check" not in read
        self.names = candidates_names(
            self.trees, self.texts, self.paths, self.stubs, self.calls_check
        )
        self.classes = classes_of(self.trees, self.names, self.paths)

    def rewritten(self, statements):
        """The code to run; its assertions go to the statements."""
        for tree, text in zip(self.trees, self.texts):
            known = self.names | self.parameters
            rewriter = Rewriter(text, known, statements, kept_at_top=tree is self.trees[0])
            tree.body = rewriter.block(tree.body, False)
            for number in rewriter.never:
                statements[number].near = True
            if tree is self.trees[0]:
                self.of_prelude = len(statements)
        if not statements:
            raise Unusable("tests.source: no assertion")
        return [compile(tree, "tests", "exec", dont_inherit=True) for tree in self.trees]

    def run(self, code, recorder, candidate):
        functions = {
            name: Function(candidate, name, name in self.classes) for name in self.names
        }
        space = {
            "__name__": "__main__",
            "__builtins__": {**functions, **builtin_names, "__paddock__": recorder},
        }
        exec(code[0], space)
        for name in functions:
            space.pop(name, None)
        space["__builtins__"].update(functions)
        try:
            exec(code[1], space)
        except SystemExit as error:
            if error.code not in (None, 0) or self.goes_on_after(error, recorder):
                raise
            return
        if self.calls_check:
            check = space["check"]
            only = self.paths[0] or (min(self.stubs) if len(self.stubs) == 1 else "")
            check(*[Function(candidate, only)][: check.__code__.co_argcount])
        for name in self.test_functions:
            space[name]()

    def goes_on_after(self, error, recorder):
        """Whether anything may be left to do: after the line in the source, in a function that it
        is in, or another time around in a loop."""
        if self.calls_check or self.test_functions:
            return True
        lines, traceback = [], error.__traceback__
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == "tests":
                lines.append(traceback.tb_lineno)
            traceback = traceback.tb_next
        asserted = [s.line for s in recorder.statements[self.of_prelude :]]
        if not lines or any(line > lines[0] for line in asserted):
            return True
        for node in everything_in(self.trees[1]):
            if isinstance(node, (*LOOPS, *FUNCTIONS)):
                for line in lines:
                    first = node.lineno if isinstance(node, LOOPS) else line + 1
                    if node.lineno <= line <= node.end_lineno:
                        if any(first <= other <= node.end_lineno for other in asserted):
                            return True
        return False


def judge_assertions(tests, first_failure_ends, candidate):
    recorder = Recorder(candidate, first_failure_ends)
    try:
        plan = Plan(tests)
        code = plan.rewritten(recorder.statements)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unusable("the tests do not compile: " + described(error))
    try:
        candidate.wait()
    except Gone as gone:
        return all_for(gone, len(recorder.statements))
    end = None
    try:
        plan.run(code, recorder, candidate)
    except BaseException as error:
        end = error
    return as_cases(recorder, end, candidate)


def as_cases(recorder, end, candidate):
    end = recorder.ended or candidate.ended or candidate.unanswered or end
    if isinstance(end, Unusable):
        raise end
    if candidate.calls == 0:
        why = "the tests never call the candidate: name it in entry_point"
        raise Unusable(why if end is None else "the tests: " + described(end) + tests_line(end))
    statements = recorder.statements
    if isinstance(end, FirstFailure):
        reached = [s for s in statements if s.counts(to_the_end=False)]
        return [s.as_case() if s.ran else case("not_reached") for s in reached]
    if end is None:
        if all(s.says_nothing and s.asks_by_itself for s in statements):
            raise Unusable("no assertion asks the candidate")
        cases = [s.as_case() for s in statements if s.counts(to_the_end=True)]
        return cases or [case("no_assertion_ran")]
    # It did not run to its end: nothing of it counts. The first that would have passed says why.
    if isinstance(end, (Gone, NoAnswer)):
        cause, detail = end.cause, end.detail
    elif isinstance(end, AssertionError):
        cause, detail = "wrong_answer", described(end) + tests_line(end)
    else:
        cause, detail = "raised", described(end) + tests_line(end)
    cases = []
    for s in statements:
        if not s.counts(to_the_end=False):
            continue
        if s.cause:
            cases.append(s.as_case())
        else:
            cases.append(case(cause, detail, s.wall_s if s.ran else None))
            if not s.ran:
                cause, detail = "not_reached", ""
    return cases


def tests_line(error):
    line, traceback = None, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == "tests":
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return "" if line is None else " (line %d of the tests)" % line
