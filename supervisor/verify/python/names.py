# Which names of the tests are the candidate's (RFC 0010, Assertions). It is decided from their text
# alone, before anything runs: a name that somebody forgot to import must never become a call of
# something that the candidate has put there, and no answer decides whether the tests are usable.
import _ast
import _symtable

from builtins import __dict__ as builtin_names

FUNCTIONS = (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.Lambda)
GLOBAL_SCOPES = (_symtable.GLOBAL_IMPLICIT, _symtable.GLOBAL_EXPLICIT)
UNDEFINED = "'%s' is not defined; import it in the tests, or name it in entry_points"
UNDECIDED = "%s are not defined: name those of the candidate in entry_points, import the others"
OBJECT = (
    'the tests make a %s: name its method in entry_point, such as "%s().f", which has a new instance'
    " for each call; objects with a state are not supported"
)


def children(node):
    found = []
    for name in node._fields:
        value = getattr(node, name, None)
        if type(value) is list:
            found += [one for one in value if isinstance(one, _ast.AST)]
        elif isinstance(value, _ast.AST):
            found.append(value)
    return found


def everything_in(node):
    found = [node]
    for one in found:  # which grows meanwhile
        found += children(one)
    return found


def is_name(node, names):
    return type(node) is _ast.Name and node.id in names


def is_stub(node):
    """A function whose body is a docstring or `...`, as the prompt of HumanEval has it."""
    return isinstance(node, FUNCTIONS) and all(
        type(s) is _ast.Expr and type(s.value) is _ast.Constant for s in node.body
    )


def global_names(text):
    """The global names that the text reads, and those that it defines."""
    top = _symtable.symtable(text, "tests", "exec")
    read, defined = set(), set()
    tables = [top]
    while tables:
        table = tables.pop()
        tables += table.children
        for name, flags in table.symbols.items():
            scope = flags >> _symtable.SCOPE_OFF & _symtable.SCOPE_MASK
            if table is top or scope in GLOBAL_SCOPES:
                if flags & _symtable.USE:
                    read.add(name)
                if flags & _symtable.DEF_BOUND:
                    defined.add(name)
    return read, defined


def starred_names(tree):
    """What `from module import *` defines. A module that is not there says so when the tests run."""
    space = {}
    for node in tree.body:
        if type(node) is _ast.ImportFrom and node.names[0].name == "*":
            try:
                exec(compile(_ast.Module([node], []), "tests", "exec"), space)
            except Exception:
                pass
    return set(space)


def undefined_names(trees, texts, left_out):
    """left_out: what is not the tests' own although they define it."""
    read, defined = set(), set()
    for tree, text in zip(trees, texts):
        of_text = global_names(text)
        read |= of_text[0]
        defined |= of_text[1] | starred_names(tree)
    own = (defined - left_out) | set(builtin_names)
    return {name for name in read - own if name[:2] != "__"}


def called_names(trees):
    """The plain names that are called, or handed to check()."""
    called = set()
    for tree in trees:
        for node in everything_in(tree):
            if type(node) is _ast.Call and type(node.func) is _ast.Name:
                called.add(node.func.id)
                if node.func.id == "check":
                    called |= {a.id for a in node.args if type(a) is _ast.Name}
    return called


def candidates_names(trees, texts, paths, stubs, has_parameter):
    """The names that are the candidate's, or Unusable. With entry points those; without, the stubs
    of the prelude, or the one name that is called and that nobody defines. has_parameter: it gets
    into the tests as the parameter of check()."""
    named = {path.split(".")[0].removesuffix("()") for path in paths if path} or stubs
    undefined = undefined_names(trees, texts, named)
    if named or has_parameter:
        others = sorted(undefined - named)
        if others:
            raise Unusable(UNDEFINED % others[0])
        return named
    called = called_names(trees)
    others = sorted(undefined - called)
    if others:
        raise Unusable(UNDEFINED % others[0])
    if len(undefined) > 1:
        raise Unusable(UNDECIDED % ", ".join("'%s'" % name for name in sorted(undefined)))
    return undefined


def classes_of(trees, names, paths):
    """Those of the names that are classes, of which the tests may make an instance without
    arguments: for `Class().method(..)`, and as they like where an entry point names the method."""
    of_paths = {path.split(".")[0].removesuffix("()") for path in paths if "." in path}
    nodes = [node for tree in trees for node in everything_in(tree)]
    calls = [n for n in nodes if type(n) is _ast.Call and is_name(n.func, names)]
    at_once = [
        n.value
        for n in nodes
        if type(n) is _ast.Attribute and type(n.value) is _ast.Call and is_name(n.value.func, names)
        if not n.value.args and not n.value.keywords
    ]
    asked = {n.value.id for n in nodes if type(n) is _ast.Attribute and type(n.value) is _ast.Name}
    kept = {
        n.value.func.id
        for n in nodes
        if type(n) is _ast.Assign and type(n.value) is _ast.Call and is_name(n.value.func, names)
        if any(is_name(target, asked) for target in n.targets) and n.value.func.id[:1].isupper()
    }
    classes = of_paths | kept | {call.func.id for call in at_once}
    for call in calls:
        name = call.func.id
        if name in classes:
            is_at_once = any(call is other for other in at_once)
            if call.args or call.keywords or not (is_at_once or name in of_paths):
                raise Unusable(OBJECT % (name, name))
    return classes
