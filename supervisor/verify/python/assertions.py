# Tests of the kind `assert`: Python source in which each assert statement is a case. The statements
# are rewritten so that they report and go on; how, and what is left as Python has it, says RFC 0010
# under Assertions. _ast and not ast: see values.py.
import _ast

from builtins import __dict__ as builtin_names

AST_ONLY = 0x400  # ast.PyCF_ONLY_AST
FUNCTIONS = (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.Lambda)
TRIES = (_ast.Try, getattr(_ast, "TryStar", _ast.Try))

ASSERTION = """
try:
    if test: __paddock__.passed(number)
    else: __paddock__.failed(number, None)
except BaseException: __paddock__.raised(number)
"""
CAUGHT = """
__paddock__.catching.append(lambda: kinds)
try: body
finally: __paddock__.catching.pop()
"""


def children(node):
    for name in node._fields:
        value = getattr(node, name, None)
        for one in value if type(value) is list else [value]:
            if isinstance(one, _ast.AST):
                yield one


def everything_in(node):
    rest = [node]
    while rest:
        node = rest.pop()
        yield node
        rest += children(node)


def template(text, place):
    statements = compile(text, "tests", "exec", AST_ONLY).body
    return [located(statement, place) for statement in statements]


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

    def __init__(self, node, text):
        self.line = node.lineno
        self.text = text
        self.never = type(node.test) is _ast.Constant  # assert False: not to be reached
        self.ran = False
        self.cause = ""
        self.detail = ""
        self.wall_s = 0.0

    def as_case(self):
        if self.cause:
            return case(self.cause, self.detail, self.wall_s)
        return case("passed", "", self.wall_s if self.ran else None)


class Recorder:
    """`__paddock__` in the rewritten source."""

    def __init__(self, candidate, first_failure_ends):
        self.candidate = candidate
        self.first_failure_ends = first_failure_ends
        self.statements = []
        self.catching = []  # what the try statements around take, at the moment
        self.ended = None  # what ended the test: a bare `except:` of it cannot undo that
        self.called_s = 0.0

    def is_caught(self, error):
        try:
            return any(isinstance(error, kinds()) for kinds in self.catching)
        except Exception:  # Python would have found that out only now, too
            return True

    def took(self, statement):
        statement.ran = True
        statement.wall_s += self.candidate.called_s - self.called_s
        self.called_s = self.candidate.called_s

    def goes_on(self):
        if self.ended is None:
            self.ended = self.candidate.ended
        if self.ended is not None:
            raise self.ended

    def passed(self, number):
        self.goes_on()
        if not self.fails_unanswered(number):
            self.took(self.statements[number])

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
    def __init__(self, source, statements, kept_at_top):
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
            return self.assertion(node)
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
        return [node]

    def assertion(self, node):
        text = self.lines[node.lineno - 1].strip() if node.lineno <= len(self.lines) else ""
        number = len(self.statements)
        if number == CASES_MAX:
            raise Unusable("more than 10,000 assertions")
        self.statements.append(Statement(node, text[:160]))
        [rewritten] = template(ASSERTION.replace("number", str(number)), node)
        branch = rewritten.body[0]
        branch.test = node.test
        if node.msg is not None:
            branch.orelse[0].value.args[1] = node.msg
        return [rewritten]

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


def is_stub(node):
    """A function whose body is a docstring or `...`, as the prompt of HumanEval has it."""
    return isinstance(node, FUNCTIONS) and all(
        type(s) is _ast.Expr and type(s.value) is _ast.Constant for s in node.body
    )


def free_names(trees):
    """The names that are read and that no builtin has. What the tests define goes first all the
    same: these names are looked up after the tests' own."""
    return {
        node.id
        for tree in trees
        for node in everything_in(tree)
        if type(node) is _ast.Name and node.id not in builtin_names and node.id[:2] != "__"
    }


class Function:
    """A function of the candidate, as the tests see it."""

    def __init__(self, candidate, path):
        self.__name__ = self.__qualname__ = path
        self._candidate = candidate

    def __call__(self, *args, **kwargs):
        return self._candidate.value(self.__name__, args, kwargs)

    def __getattr__(self, name):
        if name[:1] == "_":  # what Python itself looks for, a copy before it is one included
            raise AttributeError(name)
        return Function(self._candidate, self.__name__ + "." + name)


def judge_assertions(tests, first_failure_ends, candidate):
    prelude = parse(tests.get("prelude", ""), "tests.prelude")
    source = parse(tests["source"], "tests.source")
    paths = tests.get("entry_points") or [tests.get("entry_point", "")]
    recorder = Recorder(candidate, first_failure_ends)
    trees = (prelude, source)
    names = free_names(trees)
    calls_check = any(
        type(n) is _ast.Name and n.id == "check" and type(n.ctx) is _ast.Load
        for n in everything_in(source)
    )
    stubs = {n.name for n in prelude.body if is_stub(n)}
    defined = {n.name for tree in trees for n in tree.body if isinstance(n, FUNCTIONS)}
    for tree, text in zip(trees, (tests.get("prelude", ""), tests["source"])):
        rewriter = Rewriter(text, recorder.statements, kept_at_top=tree is prelude)
        tree.body = rewriter.block(tree.body, False)
    if not recorder.statements:
        raise Unusable("tests.source: no assertion")
    try:
        code = [compile(tree, "tests", "exec", dont_inherit=True) for tree in trees]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unusable("the tests do not compile: " + described(error))
    try:
        candidate.wait()
    except Gone as gone:
        return all_for(gone, len(recorder.statements))

    functions = {name: Function(candidate, name) for name in names}
    space = {
        "__name__": "__main__",
        "__builtins__": {**builtin_names, **functions, "__paddock__": recorder},
    }
    end = run(code, space, stubs, paths, defined, calls_check, candidate)
    return as_cases(recorder, end, candidate)


def run(code, space, stubs, paths, defined, calls_check, candidate):
    """Runs the tests. What ended them early, or None."""
    try:
        exec(code[0], space)
        for name in [*stubs, *(path for path in paths if path.isidentifier())]:
            space.pop(name, None)
            space["__builtins__"][name] = Function(candidate, name)
        exec(code[1], space)
        if "check" in defined and not calls_check:
            check = space["check"]
            only = paths[0] or (min(stubs) if len(stubs) == 1 else "")
            check(*[Function(candidate, only)][: check.__code__.co_argcount])
    except BaseException as error:
        return error
    return None


def as_cases(recorder, end, candidate):
    end = recorder.ended or candidate.ended or candidate.unanswered or end
    if isinstance(end, Unusable):
        raise end
    if candidate.calls == 0:
        why = "the tests never call the candidate"
        raise Unusable(why if end is None else "the tests: " + described(end) + tests_line(end))
    statements = recorder.statements
    if isinstance(end, FirstFailure):
        return [s.as_case() if s.ran else case("not_reached") for s in statements]
    if end is None:
        cases = [s.as_case() for s in statements if s.ran or s.never]
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
