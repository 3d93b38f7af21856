# What an interpreter runs to be a zygote (rfcs/0013): imports, forks, and in each fork the program of
# one run, as the interpreter itself would have run it with -c.
#
#   python3 ... -c THIS LIBRARY < modules and programs
#
# stdin: the names of the modules, a line each; then, each after a NUL, programs to compile ahead.
import os
import sys


def wait_for_run():
    """Returns in the process of each run: its argv, its environment, and what was compiled."""
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
    compiled = {p: compile(p, "<string>", "exec", dont_inherit=True) for p in programs}
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
    return argv, list(all_of(library.paddock_run_environment())), compiled


def begin(argv, environment):
    """What Python sets up when it starts, from the run's own words. Returns the code."""
    import _signal

    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    for name in ("SIGPIPE", "SIGXFSZ"):
        _signal.signal(getattr(_signal, name), _signal.SIG_IGN)
    os.environ.clear()
    os.environ.update(entry.split("=", 1) for entry in environment)
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
    at = argv.index("-c", 1)
    sys.orig_argv = argv
    sys.argv = ["-c", *argv[at + 2 :]]
    main = type(sys)("__main__")
    main.__builtins__ = __builtins__
    sys.modules["__main__"] = main
    return argv[at + 1], main.__dict__


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


def run(source, space, compiled):
    interrupted = False
    try:
        code = compiled.get(source) or compile(source, "<string>", "exec", dont_inherit=True)
        exec(code, space)
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
        if threading is not None:
            threading._shutdown()
        import atexit

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
        import _signal

        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
        os.kill(os.getpid(), _signal.SIGINT)
    os._exit(status)


def main():
    argv, environment, compiled = wait_for_run()
    source, space = begin(argv, environment)
    end(*run(source, space, compiled))


main()
