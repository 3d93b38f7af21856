#include "sandbox/warm_programs.hpp"

namespace paddock::tests {

using namespace kernel;

// How a program ends.
const std::vector<WarmProgram> endings = {
    {"nothing", ""},
    {"sys.exit()", "import sys; sys.exit()"},
    {"sys.exit(0)", "import sys; sys.exit(0)"},
    {"sys.exit(3)", "import sys; sys.exit(3)"},
    {"sys.exit(True)", "import sys; sys.exit(True)"},
    {"sys.exit(-1)", "import sys; sys.exit(-1)"},
    {"sys.exit(256)", "import sys; sys.exit(256)"},
    {"sys.exit of a number that no C long holds", "import sys; sys.exit(2**70)"},
    {"sys.exit of a negative one", "import sys; sys.exit(-2**70)"},
    {"sys.exit of a text", "import sys; sys.exit('over')"},
    {"sys.exit of a tuple", "import sys; sys.exit((1, 2))"},
    {"sys.exit of a float", "import sys; sys.exit(0.0)"},
    {"SystemExit with a code of its own",
     "class E(SystemExit):\n  code = 9\nraise E('never shown')"},
    {"SystemExit whose text cannot be made",
     "class T:\n  def __str__(self): raise ValueError('no text')\nraise SystemExit(T())"},
    {"sys.exit without a stderr", "import sys; sys.stderr = None; sys.exit('unseen')"},
    {"exit()", "exit(4)"},
    {"os._exit", "import os; print('kept in the buffer'); os._exit(5)"},
    {"an exception", "def f(): raise ValueError('of f')\nf()"},
    {"an exception with a cause",
     "try:\n  1/0\nexcept ZeroDivisionError as e:\n  raise KeyError('k') from e"},
    {"an exception in the handling of another", "try:\n  {}['a']\nexcept KeyError:\n  1/0"},
    {"an exception group", "raise ExceptionGroup('two', [ValueError(1), KeyError('k')])"},
    {"a syntax error", "def f(:\n  pass"},
    {"an indentation error", "if True:\npass"},
    {"a program of which no text can be made", "raise ValueError('\\udcff')"},
    {"an assertion", "assert 1 == 2, 'one is not two'"},
    {"a deep recursion", "def f(n): return f(n + 1)\nf(0)"},
    {"KeyboardInterrupt, raised", "raise KeyboardInterrupt('by hand')"},
    {"SIGINT to itself",
     "import os, signal; os.kill(os.getpid(), signal.SIGINT)\nfor i in range(9**9): pass"},
    {"SIGINT that is caught",
     "import os, signal\ntry:\n  os.kill(os.getpid(), signal.SIGINT)\n  for i in range(9**9): "
     "pass\n"
     "except KeyboardInterrupt:\n  print('caught')"},
    {"SIGKILL to itself", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"},
    {"SIGTERM to itself", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"},
    {"SIGSEGV", "import ctypes; ctypes.string_at(0)"},
    {"abort()", "import os; os.abort()"},
    {"SIGHUP to itself", "import os, signal; os.kill(os.getpid(), signal.SIGHUP); print('no')"},
    {"GeneratorExit", "raise GeneratorExit"},
    {"an excepthook of its own",
     "import sys\nsys.excepthook = lambda t, v, tb: print('hook', t.__name__, v)\n1/0"},
    {"an excepthook that fails",
     "import sys\ndef hook(*a): raise KeyError('hook')\nsys.excepthook = hook\n1/0"},
    {"an excepthook that exits", "import sys\nsys.excepthook = lambda *a: sys.exit(7)\n1/0"},
    {"no excepthook", "import sys\ndel sys.excepthook\n1/0"},
    {"execve", "import os; os.execv('/bin/echo', ['echo', 'another program'])"},
};

// What happens after its last line.
const std::vector<WarmProgram> afterwards = {
    {"atexit", "import atexit\natexit.register(print, 'b')\natexit.register(print, 'a')"},
    {"atexit after an exception", "import atexit\natexit.register(print, 'after')\n1/0"},
    {"atexit that fails",
     "import atexit\nclass F:\n  def __call__(self): raise ValueError('late')\n  def "
     "__repr__(self): return 'F'\n"
     "atexit.register(F())"},
    {"atexit that exits",
     "import atexit, sys\nclass F:\n  def __call__(self): sys.exit(6)\n  def __repr__(self): "
     "return 'F'\n"
     "atexit.register(F())"},
    {"atexit that registers another",
     "import atexit\natexit.register(lambda: atexit.register(print, 'nested'))"},
    {"os._exit skips atexit", "import atexit, os\natexit.register(print, 'x')\nos._exit(0)"},
    {"threads are awaited",
     "import threading, time\n"
     "threading.Thread(target=lambda: (time.sleep(.05), print('thread'))).start()\nprint('main')"},
    {"daemon threads are not awaited",
     "import threading, time\n"
     "threading.Thread(target=lambda: (time.sleep(60), print('no')), daemon=True).start()"},
    {"a thread that fails",
     "import threading\ndef f(): 1/0\nt = threading.Thread(target=f, name='t')\nt.start(); "
     "t.join()"},
    {"a thread that starts a thread",
     "import threading\ndef g(): print('g')\ndef f(): threading.Thread(target=g).start()\n"
     "threading.Thread(target=f).start()"},
    {"a pool that is not closed",
     "from concurrent.futures import ThreadPoolExecutor\np = ThreadPoolExecutor(2)\n"
     "f = p.submit(print, 'pooled')"},
    {"a write without a newline", "import sys; sys.stdout.write('half a line')"},
    {"stdout is closed", "import sys; print('said'); sys.stdout.close()"},
    {"stdout's descriptor is closed", "import os; print('lost'); os.close(1)"},
    {"stderr's descriptor is closed", "import os; os.close(2); 1/0"},
    {"stdout is None", "import sys; sys.stdout = None; print('nowhere')"},
    {"stdout was replaced", "import io, sys; sys.stdout = io.StringIO(); print('kept')"},
    {"stdout without its wrapper", "import sys; sys.stdout.buffer.write(b'bytes\\n')"},
    {"another writer on stdout that is not flushed",
     "w = open(1, 'w', closefd=False); w.write('written by w\\n')"},
    {"a binary writer that is not flushed",
     "w = open(1, 'wb', closefd=False); w.write(b'written by w\\n')"},
    {"a writer in a list", "w = [open(1, 'w', closefd=False)]\nw[0].write('deep\\n')"},
    {"a flush that fails",
     "import sys\nclass W:\n  def write(self, t): pass\n  def flush(self): raise OSError('full')\n"
     "  def __repr__(self): return 'W'\nsys.stdout = W()"},
    {"a warning", "import warnings; warnings.warn('careful')"},
    {"an exception in __del__",
     "import sys\nclass D:\n  def __del__(self): 1/0\n"
     "sys.unraisablehook = lambda a: print(a.exc_value)\nD()"},
    {"__del__ of a global", "class D:\n  def __del__(self): print('gone')\nd = D()"},
    {"__del__ in order",
     "class D:\n  def __init__(self, n): self.n = n\n  def __del__(self): print(self.n)\n"
     "a = D('a'); _b = D('b'); c = D('c')"},
    {"__del__ of a cycle",
     "class D:\n  def __del__(self): print('gone')\nd = D(); d.me = d\nlist = [d]"},
    {"__del__ after an exception",
     "class D:\n  def __del__(self): print('gone')\ndef f():\n  d = D()\n  1/0\nf()"},
    {"__del__ that uses a global", "n = 3\nclass D:\n  def __del__(self): print(n)\nd = D()"},
    {"a coroutine that nobody awaited", "async def f(): pass\nf()\nprint('done')"},
};

// What it finds around itself.
const std::vector<WarmProgram> surroundings = {
    {"sys.argv", "import sys; print(sys.argv)"},
    {"sys.orig_argv without its code",
     "import sys; print([a for a in sys.orig_argv if len(a) < 9])"},
    {"sys.path", "import sys; print(sys.path)"},
    {"sys.flags", "import sys; print(sys.flags)"},
    {"sys.warnoptions and -X", "import sys; print(sys.warnoptions, sys._xoptions)"},
    {"sys.executable and prefixes",
     "import sys; print(sys.executable, sys.prefix, sys.exec_prefix, sys.base_prefix)"},
    {"names of __main__", "print(sorted(globals()))"},
    {"what __main__ says of itself",
     "print(__name__, __doc__, __package__, __spec__, __loader__, __annotations__, __builtins__)"},
    {"__main__ can be imported", "x = 5\nimport __main__; print(__main__.x, __main__)"},
    {"annotations", "x: int = 1\nprint(__annotations__)"},
    {"pickles of its own classes",
     "import pickle\nclass C: pass\nprint(type(pickle.loads(pickle.dumps(C()))) is C)"},
    {"dataclasses and typing",
     "import dataclasses, typing\n@dataclasses.dataclass\nclass P:\n  x: 'int' = 1\n"
     "print(P(), typing.get_type_hints(P))"},
    {"future statements are not inherited", "def f(x: int): pass\nprint(f.__annotations__)"},
    {"its own future statement",
     "from __future__ import annotations\ndef f(x: int): pass\nprint(f.__annotations__)"},
    {"the depth it may recurse to",
     "def f(n):\n  try: return f(n + 1)\n  except RecursionError: return n\nprint(f(0))"},
    {"locals is globals", "print(locals() is globals())"},
    {"os.environ", "import os; print(sorted(os.environ.items()))"},
    {"the environment of C",
     "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.getenv.restype = ctypes.c_char_p\n"
     "print(libc.getenv(b'HOME'), libc.getenv(b'PATH'), libc.getenv(b'NO_SUCH'), "
     "libc.getenv(b'LC_CTYPE'))"},
    {"the environment of a child",
     "import subprocess; print(subprocess.run(['env'], capture_output=True).stdout)"},
    {"the working directory", "import os; print(os.getcwd(), os.listdir('.'))"},
    {"its home", "import os; print(os.path.expanduser('~'), os.listdir(os.path.expanduser('~')))"},
    {"its ids",
     "import os; print(os.getuid(), os.getgid(), os.geteuid(), os.getegid(), os.getgroups(), "
     "os.getresuid())"},
    {"its pid, session and group",
     "import os; print(os.getpid() == os.getsid(0) == os.getpgrp(), os.getppid())"},
    {"its umask", "import os; print(oct(os.umask(0)))"},
    {"its name", "print(open('/proc/self/comm').read())"},
    {"its hostname", "import socket, os; print(socket.gethostname(), os.uname().nodename)"},
    {"its user", "import getpass, pwd, os; print(getpass.getuser(), pwd.getpwuid(os.getuid()))"},
    {"its descriptors",
     "import os; print(sorted(os.listdir('/proc/self/fd'))[:3], len(os.listdir('/proc/self/fd')))"},
    {"its limits",
     "import resource as r\nprint([(n, r.getrlimit(getattr(r, n))) for n in sorted(dir(r)) if "
     "n.startswith('RLIMIT_')])"},
    {"its capabilities, filters and no_new_privs",
     "print([l for l in open('/proc/self/status') if l.startswith(('Cap', 'Seccomp:', 'NoNew', "
     "'Sig', 'Shd'))])"},
    {"its nice value and scheduler",
     "import os; print(os.nice(0), os.sched_getscheduler(0), len(os.sched_getaffinity(0)))"},
    {"its signal handlers",
     "import signal\nprint([(s.name, signal.getsignal(s)) for s in sorted(signal.valid_signals()) "
     "if hasattr(s, 'name')])"},
    {"signals that it blocks",
     "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []))"},
    {"a timer", "import signal; print(signal.getitimer(signal.ITIMER_REAL), signal.alarm(0))"},
    {"its mounts",
     "for l in sorted(set((w[4], w[5], w[w.index('-')+1]) for w in (l.split() for l in "
     "open('/proc/self/mountinfo')))): print(l)"},
    {"what it may write to",
     "import os\nfor d, s, f in os.walk('/'):\n  s[:] = [x for x in s if os.path.join(d, x) not in "
     "('/proc', '/usr', '/dev/fd')]\n"
     "  if d != '/dev/pts' and os.access(d, os.W_OK): print(d, oct(os.stat(d).st_mode), "
     "os.listdir(d))"},
    {"what lies at the root",
     "import os; print(sorted(os.listdir('/')), sorted(os.listdir('/dev')), "
     "sorted(os.listdir('/etc')))"},
    {"its processes", "import os; print([p for p in os.listdir('/proc') if p.isdigit()])"},
    {"a terminal of its own", "import pty, os; a, b = pty.openpty(); print(os.ttyname(b))"},
    {"its scratch space",
     "import os\nfor p in ('/tmp', '/dev/shm', '/workspace', '/home/agent'):\n  s = os.statvfs(p); "
     "print(p, s.f_blocks, s.f_files, s.f_flag)"},
    {"its threads",
     "import threading; print(threading.active_count(), threading.main_thread() is "
     "threading.current_thread(), threading.get_native_id() == threading.main_thread().native_id, "
     "threading.main_thread().ident == threading.get_ident())"},
    {"its collector",
     "import gc; print(gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.get_freeze_count() "
     ">= 0)"},
    {"tracing and profiling are off",
     "import sys; print(sys.gettrace(), sys.getprofile(), sys.getswitchinterval())"},
    {"its clock",
     "import time; print(time.process_time() < 5, time.thread_time() < 5, time.tzname, "
     "time.localtime(0))"},
    {"its parent's death",
     "import ctypes\nl = ctypes.CDLL(None); n, m = ctypes.c_int(), ctypes.c_int()\n"
     "l.prctl(2, ctypes.byref(n)); l.prctl(37, ctypes.byref(m)); print(n.value, l.prctl(3), "
     "m.value)"},
};

// Standard streams.
const std::vector<WarmProgram> streams = {
    {"encodings and buffering",
     "import sys\nfor s in (sys.stdin, sys.stdout, sys.stderr):\n"
     "  print(s, s.encoding, s.errors, s.line_buffering, s.write_through, s.newlines, s.isatty(), "
     "s.fileno(), s.buffer)"},
    {"locale",
     "import locale, sys; print(locale.getlocale(), sys.getfilesystemencoding(), "
     "sys.getfilesystemencodeerrors(), sys.getdefaultencoding(), locale.setlocale(locale.LC_ALL))"},
    {"sys.__stdout__ is sys.stdout",
     "import sys; print(sys.__stdout__ is sys.stdout, sys.__stdin__ is sys.stdin, sys.__stderr__ "
     "is sys.stderr)"},
    {"no input", "import sys; print(repr(sys.stdin.read()))"},
    {"input()", "print([input(), input('ask'), input()])", "a\nb\nc"},
    {"input() at the end", "input()"},
    {"lines of stdin", "import sys; print([line for line in sys.stdin])", "a\nb\r\nc"},
    {"bytes of stdin", "import sys; print(sys.stdin.buffer.read())", "\x80\xff\x01 bytes"},
    {"bytes that are no UTF-8", "import sys; print(ascii(sys.stdin.read()))", "\x80 a"},
    {"os.read", "import os; print(os.read(0, 100))", "through no buffer"},
    {"open(0)", "print(open(0).read())", "once more"},
    {"no text for stdout", "print('\\ud800')"},
    {"unicode", "print('\\u00e9\\u4e2d\\U0001f600')"},
    {"order of stdout and stderr on one pipe",
     "import os, sys\nos.dup2(1, 2)\nprint('1')\nprint('2', file=sys.stderr)\nprint('3')"},
    {"print with flush", "import os\nprint('a', flush=True)\nos.write(1, b'b\\n')\nprint('c')"},
    {"a closed stdin",
     "import sys; sys.stdin.close()\ntry: input()\nexcept Exception as e: print(repr(e))"},
    {"a broken pipe",
     "import os, sys\nr, w = os.pipe(); os.close(r); os.dup2(w, 1)\nprint('x')\n"
     "try: sys.stdout.flush()\nexcept BrokenPipeError as e: print(e, file=sys.stderr)"},
    {"a broken pipe at the end",
     "import os, sys\nr, w = os.pipe(); os.close(r); os.dup2(w, 1)\nprint('x')"},
    {"SIGPIPE of a child",
     "import subprocess; print(subprocess.run('yes | head -1; echo ${PIPESTATUS[0]}', shell=True, "
     "capture_output=True, executable='/bin/bash').stdout)"},
};

// The parts of Python that keep something of their process.
const std::vector<WarmProgram> modules = {
    {"subprocess",
     "import subprocess; print(subprocess.run(['sh', '-c', 'echo $0 $#; exit 3', 'a', 'b'], "
     "capture_output=True))"},
    {"os.fork",
     "import os\np = os.fork()\nif p == 0: print('child'); os._exit(0 if os.getppid() > 1 else "
     "1)\nprint(os.waitpid(p, 0)[1])"},
    {"os.fork and an exit of each",
     "import os, sys\nif os.fork() == 0: print('child'); sys.exit(1)\nos.wait(); print('parent')"},
    {"multiprocessing by fork",
     "import multiprocessing as m\nif __name__ == '__main__':\n  c = m.get_context('fork')\n  with "
     "c.Pool(2) as p: print(p.map(abs, [-1, 2, -3]))"},
    {"multiprocessing.Process",
     "import multiprocessing as m\ndef f(q): q.put(m.current_process().name)\nq = m.Queue()\np = "
     "m.Process(target=f, args=(q,)); p.start(); print(q.get()); p.join(); print(p.exitcode)"},
    {"ProcessPoolExecutor",
     "from concurrent.futures import ProcessPoolExecutor\nwith ProcessPoolExecutor(2) as p: "
     "print(list(p.map(abs, [-1, -2])))"},
    {"shared memory",
     "from multiprocessing import shared_memory as s\nm = s.SharedMemory(create=True, size=64); "
     "m.buf[0] = 7; print(m.buf[0]); m.close(); m.unlink()"},
    {"asyncio",
     "import asyncio\nasync def f(n): await asyncio.sleep(.01); return n\nasync def g(): return "
     "await asyncio.gather(f(1), f(2))\nprint(asyncio.run(g()))"},
    {"asyncio's children",
     "import asyncio\nasync def f():\n  p = await asyncio.create_subprocess_exec('echo', 'x', "
     "stdout=-1)\n  return await p.communicate()\nprint(asyncio.run(f()))"},
    {"asyncio with a signal",
     "import asyncio, os, signal\nasync def f():\n  e = asyncio.Event()\n  "
     "asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, e.set)\n  os.kill(os.getpid(), "
     "signal.SIGUSR1)\n  await e.wait(); print('got it')\nasyncio.run(f())"},
    {"asyncio.run and SIGINT",
     "import asyncio, os, signal\nasync def f():\n  os.kill(os.getpid(), signal.SIGINT); await "
     "asyncio.sleep(30)\nasyncio.run(f())"},
    {"a signal handler",
     "import os, signal\nsignal.signal(signal.SIGUSR1, lambda s, f: print('handled', "
     "s))\nos.kill(os.getpid(), signal.SIGUSR1)"},
    {"signal.alarm",
     "import signal\nsignal.signal(signal.SIGALRM, lambda *a: "
     "print('ring'))\nsignal.setitimer(signal.ITIMER_REAL, .02)\nsignal.pause()"},
    {"a loopback socket",
     "import socket, threading\ns = socket.create_server(('127.0.0.1', 0))\nc = "
     "socket.create_connection(s.getsockname()); a, _ = s.accept(); a.send(b'hi'); "
     "print(c.recv(9))"},
    {"a Unix socket",
     "import socket\ns = socket.socket(socket.AF_UNIX); s.bind('\\0name'); s.listen(); c = "
     "socket.socket(socket.AF_UNIX); c.connect('\\0name'); print('connected')"},
    {"tempfile",
     "import tempfile, os\nf = tempfile.NamedTemporaryFile(); print(os.path.dirname(f.name), "
     "tempfile.gettempdir())\nwith tempfile.TemporaryDirectory() as d: print(os.path.isdir(d))"},
    {"random with a seed",
     "import random; random.seed(1); print(random.random(), random.sample(range(99), 3), "
     "random.getstate()[0])"},
    {"logging",
     "import logging; logging.warning('w'); logging.info('i'); logging.getLogger('a').error('e')"},
    {"sqlite3",
     "import sqlite3; c = sqlite3.connect('a.db'); c.execute('create table t(x)'); "
     "c.execute('insert into t values(1)'); c.commit(); print(c.execute('select * from "
     "t').fetchall())"},
    {"files",
     "open('f', 'w').write('text'); print(open('f').read()); import os; "
     "print(oct(os.stat('f').st_mode), os.stat('f').st_uid)"},
    {"a module of its own",
     "open('mine.py', 'w').write('x = 3'); import sys; sys.path.insert(0, '.'); import mine; "
     "print(mine.x)"},
    {"unittest",
     "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): self.assertEqual(1, 1)\n  "
     "def test_b(self): self.assertEqual(1, 2)\nimport io; r = "
     "unittest.TextTestRunner(stream=io.StringIO()).run(unittest.defaultTestLoader."
     "loadTestsFromTestCase(T)); print(r)"},
    {"unittest.main",
     // It prints how long it took.
     "import time, unittest\ntime.perf_counter = lambda: 0\n"
     "class T(unittest.TestCase):\n  def test_a(self): pass\nunittest.main(verbosity=0)"},
    {"doctest",
     "def f():\n  '''>>> f()\n  1\n  '''\n  return 1\nimport doctest; print(doctest.testmod())"},
    {"timeit", "import timeit; print(timeit.timeit('pass', number=10) >= 0)"},
    {"exec and eval", "exec('y = 2'); print(y, eval('y + 1'))"},
    {"a class with metaclass and super",
     "class A:\n  def f(self): return __class__.__qualname__\nprint(A().f(), A.__module__, A)"},
    {"help", "import pydoc; print(pydoc.render_doc(len, renderer=pydoc.plaintext)[:40])"},
    {"ssl",
     "import ssl; print(len(ssl.RAND_bytes(8)), ssl.create_default_context().check_hostname)"},
    {"hashlib", "import hashlib; print(hashlib.sha256(b'x').hexdigest())"},
    {"decimal and its context",
     "import decimal; print(decimal.getcontext(), decimal.Decimal(1) / 3)"},
    {"warnings of each kind",
     "import warnings\nfor c in (DeprecationWarning, UserWarning, ResourceWarning): "
     "warnings.warn('w', c)"},
    {"faulthandler", "import faulthandler; print(faulthandler.is_enabled())"},
    {"readline and code are there",
     "import code; print(code.InteractiveInterpreter().runsource('print(6*7)'))"},
};

const std::vector<std::string> common_modules = {"asyncio",
                                                 "concurrent.futures",
                                                 "json",
                                                 "logging",
                                                 "multiprocessing",
                                                 "random",
                                                 "sqlite3",
                                                 "ssl",
                                                 "subprocess",
                                                 "tempfile",
                                                 "threading",
                                                 "unittest",
                                                 "uuid"};

std::string shown(const SandboxResult& result) {
  return std::string(name_of(result.cause)) + ", exit " + std::to_string(result.exit_code) +
         "\n--- stdout\n" + result.stdout + "--- stderr\n" + result.stderr;
}

}  // namespace paddock::tests
