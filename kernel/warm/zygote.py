# What an interpreter runs to be a zygote (rfcs/0013): imports, forks, and in each fork the program of
# one run, as the interpreter itself would have run it with -c.
#
#   python3 ... -c THIS LIBRARY < modules and programs
#
# stdin: the names of the modules, a line each; then, each after a NUL, programs to prepare.
#
# What a fork does not touch it does not have to copy, a page at a time: hence the ifs.
import _signal
import atexit
import os
import sys


class Prepared:
    """A trusted program, executed up to its last statement, which a run will execute. What it
    defines as prepare() is called, too."""

    def __init__(self, source):
        AST_ONLY = 0x400  # ast.PyCF_ONLY_AST
        tree = compile(source, "<string>", "exec", AST_ONLY, dont_inherit=True)
        last = tree.body.pop()
        self.module = new_main()
        exec(compile(tree, "<string>", "exec", dont_inherit=True), self.module.__dict__)
        tree.body[:] = [last]
        self.code = compile(tree, "<string>", "exec", dont_inherit=True)
        if "prepare" in self.module.__dict__:
            self.module.prepare()


def new_main():
    main = type(sys)("__main__")
    main.__builtins__ = __builtins__
    return main


def wait_for_run():
    """Returns in the process of each run: its argv, its environment, and the prepared programs."""
    import ctypes
    import gc
    import importlib

    library = ctypes.PyDLL(sys.argv[1])
    for words in (library.paddock_run_argv, library.paddock_run_environment):
        words.restype = ctypes.POINTER(ctypes.c_char_p)
    given = b""
    while piece := os.read(0, 1 << 16):
        given += piece
    modules, *programs = given.decode().split("\0")
    for name in modules.split():
        importlib.import_module(name)
    prepared = {source: Prepared(source) for source in programs}
    gc.collect()
    gc.freeze()  # a collection in a fork would write to, and so copy, each page of this heap

    ctypes.pythonapi.PyOS_BeforeFork()
    if not library.paddock_zygote_serve(3):
        os._exit(0)
    ctypes.pythonapi.PyOS_AfterFork_Child()  # random has a seed of its own from here on

    def all_of(words):
        number = 0
        while words[number] is not None:
            yield os.fsdecode(words[number])
            number += 1

    argv = list(all_of(library.paddock_run_argv()))
    return argv, list(all_of(library.paddock_run_environment())), prepared


def begin(argv, environment):
    """What Python sets up when it starts, from the run's own words. Returns the source."""
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    for name in ("SIGPIPE", "SIGXFSZ"):
        _signal.signal(getattr(_signal, name), _signal.SIG_IGN)
    variables = dict(entry.split("=", 1) for entry in environment)
    if os.environ != variables:
        os.environ.clear()
        os.environ.update(variables)
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
    at = argv.index("-c", 1)
    sys.orig_argv = argv
    sys.argv = ["-c", *argv[at + 2 :]]
    return argv[at + 1]


def status_of(exit):
    """Of a SystemExit, as Python has it."""
    if exit.code is None:
        return 0
    if isinstance(exit.code, int):
        return exit.code & 0xFF
    print(exit.code, file=sys.stderr)
    return 1


def shown(error):
    """Without the frame of this file. True if it is what an interrupted program ends with."""
    sys.excepthook(type(error), error, error.__traceback__ and error.__traceback__.tb_next)
    return isinstance(error, KeyboardInterrupt)


def run(source, prepared):
    interrupted = False
    main = prepared.module if prepared else new_main()
    sys.modules["__main__"] = main
    try:
        code = prepared.code if prepared else compile(source, "<string>", "exec", dont_inherit=True)
        exec(code, main.__dict__)
        status = 0
    except SystemExit as exit:
        status = status_of(exit)
    except BaseException as error:
        status = 1
        interrupted = shown(error)
    return status, interrupted


def end(status, interrupted):
    """As Python ends, but for objects that are still there: they go with the process."""
    try:
        threading = sys.modules.get("threading")
        if threading is not None and (len(threading._active) > 1 or threading._threading_atexits):
            threading._shutdown()
        if atexit._ncallbacks():
            atexit._run_exitfuncs()
    except BaseException as error:
        shown(error)
    for stream, failed in ((sys.stdout, 120), (sys.stderr, None)):
        try:
            if stream is not None:
                stream.flush()
        except BaseException:
            status = failed or status
    if interrupted:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
        os.kill(os.getpid(), _signal.SIGINT)
    os._exit(status)


def main():
    argv, environment, prepared = wait_for_run()
    source = begin(argv, environment)
    end(*run(source, prepared.get(source)))


main()
