# The code under test as the module `candidate`, and the functions in it.


class NoEntryPoint(Exception):
    pass


def last_line(traceback):
    line = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == "candidate.py":
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return "" if line is None else " (line %d)" % line


def load(code):
    """The module and "", or None and why it does not load."""
    module = type(sys)("candidate")
    module.__file__ = "candidate.py"
    sys.modules["candidate"] = module
    sys.argv[:] = ["candidate.py"]
    try:
        text = code.decode("utf-8")
        if "\0" in text:
            return None, "a NUL character"
        exec(compile(text, "candidate.py", "exec", dont_inherit=True), module.__dict__)
        return module, ""
    except UnicodeDecodeError as error:
        return None, "not UTF-8: " + str(error)
    except BaseException as error:
        why = described(error)
        try:
            why += last_line(error.__traceback__)
            sys.__excepthook__(type(error), error, error.__traceback__)
        except BaseException:
            pass
        return None, why


def only_function(names):
    own = [
        name
        for name, value in names.items()
        if type(value) is type(load) and value.__module__ == "candidate" and name[0] != "_"
    ]
    if len(own) != 1:
        raise NoEntryPoint("the tests name no function, and the code has %d" % len(own))
    return own[0]


def entry_point(module, path):
    """`f`, `Class.method` and `Class().method`; for a method that needs one an instance is made,
    each time anew. "": the only function that there is."""
    names = module.__dict__
    found, owner = None, None
    for part in (path or only_function(names)).split("."):
        name = part[:-2] if part.endswith("()") else part
        try:
            if owner is None:
                found = names[name]
            else:
                if issubclass(type(owner), type) and type(vars(owner).get(name)) is type(load):
                    owner = owner()
                found = getattr(owner, name)
        except (KeyError, AttributeError):
            raise NoEntryPoint("the code has no %s" % path)
        if part.endswith("()"):
            found = found()
        owner = found
    if not callable(found):
        raise NoEntryPoint("%s is no function" % path)
    return found
