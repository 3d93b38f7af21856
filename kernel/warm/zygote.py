# What an interpreter runs to be a zygote (rfcs/0013): imports, forks, and in each fork the program of
# one run, as the interpreter itself would have run it with -c, or as a file.
#
#   python3 ... -c THIS LIBRARY < modules and programs
#
# stdin: the names of the modules, a line each; then, each after a NUL, programs to prepare.
#
# What a fork does not touch it does not have to copy, a page at a time: hence the ifs.
import _signal
import atexit
import gc
import os
import sys

FRAMES_BELOW = 4  # of this file, while a program runs
# Whether it looks for modules where its program is. What a zygote imports is never there.
LOOKS_BESIDE_PROGRAM = not (sys.flags.isolated or getattr(sys.flags, "safe_path", False))


class Prepared:
    """A trusted program, executed up to its last statement, which a run will execute. What it
    defines as prepare() is called, too. Where it defines become(file, words) all of it is, and a run
    calls that, and then is what the command `words` would be: this interpreter with that file."""

    def __init__(self, source):
        self.source = source
        AST_ONLY = 0x400  # ast.PyCF_ONLY_AST
        tree = compile(source, "<string>", "exec", AST_ONLY, dont_inherit=True)
        is_all = any(getattr(each, "name", "") == "become" for each in tree.body)
        last = [] if is_all else [tree.body.pop()]
        self.module = new_main()
        exec(compile(tree, "<string>", "exec", dont_inherit=True), self.module.__dict__)
        tree.body[:] = last
        self.code = compile(tree, "<string>", "exec", dont_inherit=True)
        self.become = self.module.__dict__.get("become")
        if "prepare" in self.module.__dict__:
            self.module.prepare()


class File:
    """A program that is a file: what the interpreter makes of its name. It is read as the interpreter
    reads one, which is not quite how compile() reads bytes."""

    def __init__(self, name, library):
        self.path = os.path.abspath(name)
        self.stream = library.open_file(os.fsencode(self.path), b"rb")
        if not self.stream:
            say(f"{sys.orig_argv[0]}: can't open file {self.path!r}\n")
            os._exit(2)
        sys.path_importer_cache[self.path] = None  # it is no archive of modules

    def describe(self, main):
        main.__loader__ = sys.modules["_frozen_importlib_external"].SourceFileLoader(
            "__main__", self.path
        )
        main.__file__ = self.path
        main.__cached__ = None


def new_main():
    main = type(sys)("__main__")
    main.__annotations__ = {}
    main.__builtins__ = __builtins__
    main.__loader__ = sys.modules["_frozen_importlib"].BuiltinImporter
    return main


def what_forks_would_share():
    """A page that one fork writes and the next reads; and what does not survive a fork."""
    with open("/proc/self/smaps") as mappings:
        for line in mappings:
            if line[0].isdigit() or line[0] in "abcdef":
                mapping = line.strip()
            elif line.startswith("VmFlags:") and {"sh", "mw"} <= set(line.split()):
                return "a module has mapped memory that forks would share: " + mapping
    if len(os.listdir("/proc/self/task")) > 1:
        return "a module has started threads"
    return ""


class Library:
    """paddock-warm.so. All that a fork calls of it is looked up before."""

    def __init__(self, path):
        import ctypes

        library = ctypes.PyDLL(path)
        self.before_fork = ctypes.pythonapi.PyOS_BeforeFork
        self.after_fork = ctypes.pythonapi.PyOS_AfterFork_Child
        self.open_file, self.run_file = ctypes.pythonapi.fopen, ctypes.pythonapi.PyRun_FileExFlags
        self.open_file.restype = ctypes.c_void_p
        self.run_file.restype = ctypes.py_object
        self.run_file.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
        self.run_file.argtypes += [ctypes.py_object, ctypes.py_object, ctypes.c_int, ctypes.c_void_p]
        self.serve = library.paddock_zygote_serve
        self.prepared_program = library.paddock_run_prepared_program
        self.has_zygotes_environment = library.paddock_run_has_zygotes_environment
        self.string_at = ctypes.string_at
        self.encoding = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()
        self.argv = library.paddock_run_argv, library.paddock_run_argv_bytes
        self.environment = library.paddock_run_environment, library.paddock_run_environment_bytes
        for address, size in (self.argv, self.environment):
            address.restype, size.restype = ctypes.c_void_p, ctypes.c_ulong

    def words(self, block):
        address, size = block
        text = self.string_at(address(), size()).decode(*self.encoding)
        return text.split("\0")[:-1]


def wait_for_run(library):
    """Returns in the process of each run, with the prepared programs."""
    import importlib

    given = b""
    while piece := os.read(0, 1 << 16):
        given += piece
    modules, *programs = given.decode().split("\0")
    for name in modules.split():
        importlib.import_module(name)
    prepared = [Prepared(source) for source in programs]
    if problem := what_forks_would_share():
        sys.exit("cannot be a zygote: " + problem)
    gc.collect()
    gc.freeze()  # a collection in a fork would write to, and so copy, each page of this heap
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # what a module has said at its import is no run's output
    library.before_fork()
    if not library.serve(3):
        os._exit(0)
    library.after_fork()  # random has a seed of its own from here on
    return prepared


def begin(library, prepared):
    """What Python sets up when it starts, from the run's own words. Returns the source, or the
    program if that is prepared, or a File."""
    argv = library.words(library.argv)
    if not library.has_zygotes_environment():
        adopt(library.words(library.environment))
    draw_anew()
    at = argv.index("-c", 1)
    number = library.prepared_program()
    program = prepared[number - 1] if number else None
    place = ""
    if program is None:
        program = argv[at + 1]
        words = ["-c", *argv[at + 2 :]]
    elif program.become is None:
        argv[at + 1] = program.source
        words = ["-c", *argv[at + 2 :]]
    else:
        argv = argv[at + 2 :]  # of the command, which begins with the same words
        words = argv[at:]
        program.become(words[0], argv)
        program = File(words[0], library)
        place = os.path.dirname(os.path.realpath(program.path))
    sys.setrecursionlimit(sys.getrecursionlimit() + FRAMES_BELOW)
    sys.orig_argv = argv
    sys.argv = words
    if LOOKS_BESIDE_PROGRAM:
        sys.path.insert(0, place)
    return program


def adopt(environment):
    os.environ.clear()
    os.environ.update(entry.split("=", 1) for entry in environment)
    if "time" in sys.modules:
        sys.modules["time"].tzset()


def draw_anew():
    """What modules have drawn at random once and for all, or seen of where they are. A fork has the
    process id of its zygote, each in a namespace of its own: what looks at that to see that it was
    forked sees nothing."""
    modules = sys.modules
    if "numpy.random" in modules:
        modules["numpy.random"].seed()
    if "_ssl" in modules:
        modules["_ssl"].RAND_add(os.urandom(48), 48.0)
    if "tempfile" in modules:
        modules["tempfile"]._name_sequence = None
    if "multiprocessing.process" in modules:
        modules["multiprocessing.process"].current_process().authkey = os.urandom(32)
        modules["multiprocessing.process"].ORIGINAL_DIR = os.getcwd()  # where a child begins


def say(text):
    """On stderr, or where it should be."""
    try:
        if sys.stderr is not None:
            return sys.stderr.write(text)
    except BaseException:
        return None
    os.write(2, text.encode(errors="backslashreplace"))


def status_of(exit):
    """Of a SystemExit, as Python has it."""
    code = exit.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(2**63) <= code < 2**63 else 0xFF
    try:
        text = str(code)
    except BaseException:
        text = ""
    say(text)
    say("\n")
    return 1


def show(error):
    """An error that nobody caught, without the frame of this file. Returns the exit status."""
    error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    hook = getattr(sys, "excepthook", None)
    if hook is None:
        say("sys.excepthook is missing\n")
        hook = sys.__excepthook__
    try:
        hook(type(error), error, error.__traceback__)
    except SystemExit as exit:
        return status_of(exit)
    except BaseException as of_hook:
        of_hook.__traceback__ = of_hook.__traceback__ and of_hook.__traceback__.tb_next
        of_hook.__context__ = None
        say("Error in sys.excepthook:\n")
        sys.__excepthook__(type(of_hook), of_hook, of_hook.__traceback__)
        say("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, error.__traceback__)
    return 1


def ignore(error, of):
    """As Python ignores an error when it ends."""
    error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
    error.__context__ = None
    try:
        say(f"Exception ignored in: {of!r}\n")
        sys.__excepthook__(type(error), error, error.__traceback__)
    except BaseException:
        pass


def flush_after_file():
    """As Python does after a file, and not after what it was given with -c."""
    for stream in (sys.stderr, sys.stdout):
        try:
            stream.flush()
        except BaseException:
            pass


def run(program, library):
    interrupted = False
    kind = type(program)
    main = program.module if kind is Prepared else new_main()
    if kind is File:
        program.describe(main)
    sys.modules["__main__"] = main
    space, main = main.__dict__, None  # which nobody holds from here on but the program
    try:
        if kind is File:
            FILE_INPUT, CLOSE_IT = 257, 1
            path = os.fsencode(program.path)
            library.run_file(program.stream, path, FILE_INPUT, space, space, CLOSE_IT, None)
            flush_after_file()
        elif kind is Prepared:
            exec(program.code, space)
        else:
            exec(compile(program, "<string>", "exec", dont_inherit=True), space)
        status = 0
    except SystemExit as exit:
        if kind is File:
            flush_after_file()
        return status_of(exit), False
    except BaseException as error:
        if kind is File:
            flush_after_file()
        interrupted = isinstance(error, KeyboardInterrupt)
        status = show(error)
    if kind is File:
        space.pop("__file__", None)
        space.pop("__cached__", None)
    return status, interrupted


def flush():
    """False: what was written is lost, in part."""
    done = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except BaseException as error:
            done = False
            if stream is sys.stdout:
                ignore(error, stream)
    return done


def let_go():
    """What the program has made, but for what other modules hold: objects may have a last word."""
    sys.last_type = sys.last_value = sys.last_traceback = None
    sys.modules["__main__"] = None
    gc.collect()
    sys.stdout.flush()


def end(status, interrupted, is_prepared):
    """As Python ends."""
    threading = sys.modules.get("threading")
    try:
        if threading is not None and (len(threading._active) > 1 or threading._threading_atexits):
            threading._shutdown()
    except BaseException as error:
        ignore(error, threading)
    try:
        if atexit._ncallbacks():
            atexit._run_exitfuncs()
    except BaseException as error:
        ignore(error, atexit)
    if not flush():
        status = 120
    elif not is_prepared:
        try:
            let_go()
        except BaseException:
            pass
    if interrupted:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
        os.kill(os.getpid(), _signal.SIGINT)
    os._exit(status)


def main():
    if LOOKS_BESIDE_PROGRAM:
        del sys.path[0]  # until there is a program
    library = Library(sys.argv[1])
    prepared = wait_for_run(library)
    program = begin(library, prepared)
    end(*run(program, library), type(program) is Prepared)


main()
