// Goal: a program that is a step's file cannot tell, by what it prints and how it ends, whether it
// was executed by an interpreter of its own or by a fork.
// Method: as tests/sandbox/warm_table_test.cpp, with the same programs and some more.

#include <regex>

#include "sandbox/warm_fixture.hpp"
#include "sandbox/warm_programs.hpp"
#include "supervisor/runtimes/step.hpp"
#include "supervisor/runtimes/warm_step.hpp"

using namespace paddock::kernel;
using namespace paddock::supervisor;
using namespace paddock::tests;

namespace {

struct Source {
  std::string name;
  std::string code;
  std::string input{};
};

// Those of objects differ from process to process.
std::string without_addresses(const std::string& text) {
  static const std::regex address("0x[0-9a-f]{6,}");
  return std::regex_replace(text, address, "0x...");
}

Runtime python_with(const std::vector<std::string>& modules) {
  Runtime runtime;
  runtime.name = "python";
  runtime.source = "main.py";
  runtime.run = {"python3", "main.py"};
  runtime.warm = std::make_shared<const WarmWish>(
      WarmWish{.runtime = "python",
               .program = {.interpreter = {"python3", "-I"}, .modules = modules, .programs = {}}});
  return runtime;
}

// A zygote, and the same steps cold.
class WarmSteps {
 public:
  explicit WarmSteps(const std::vector<std::string>& modules = {},
                     const SandboxPolicy& policy = policy_of("STRICT"))
      : runtime_(python_with(modules)),
        wish_(warm_step_wish(runtime_)),
        python_(wish_->program, policy) {}

  SandboxResult warm(const Files& files, const std::string& input = {}) {
    const ResolvedRun step = prepared(files);
    RunOptions options;
    options.stdin_bytes = input;
    options.channel = step.channel->get();
    return python_.run_words(wish_->argv, std::move(options));
  }

  SandboxResult cold(const Files& files, const std::string& input = {}) {
    const ResolvedRun step = prepared(files);
    return run(
        python_.policy(), step.argv,
        {.stdin_bytes = input, .channel = step.channel->get(), .program_file = step.program});
  }

  void check_alike(const Source& source) {
    const SandboxResult forked = warm({{"main.py", source.code}}, source.input);
    const SandboxResult executed = cold({{"main.py", source.code}}, source.input);
    INFO("program: " << source.name);
    CHECK(without_addresses(shown(forked)) == without_addresses(shown(executed)));
  }

 private:
  ResolvedRun prepared(const Files& files) const {
    ResolvedRun step;
    step.policy = python_.policy();
    const auto ready = prepare_step(runtime_.run, files, {}, step);
    if (!ready) FAIL(ready.error().message);
    return step;
  }

  Runtime runtime_;
  std::shared_ptr<const WarmWish> wish_;
  WarmPython python_;
};

void check_alike(const std::vector<WarmProgram>& programs) {
  for (const auto& imported : {std::vector<std::string>{}, common_modules}) {
    INFO("with " << imported.size() << " modules imported ahead");
    WarmSteps steps(imported);
    for (const WarmProgram& each : programs) steps.check_alike({each.name, each.code, each.input});
  }
}

std::string with_nul(const std::string& before, const std::string& after) {
  return before + '\0' + after;
}

// How its text is read.
const std::vector<Source> texts = {
    {"nothing but a comment", "# nothing"},
    {"no newline at its end", "if True:\n    print(1)"},
    {"lines that end with CR LF", "print('''a\r\nb''')\r\nif True:\r\n    print(2)\r\n"},
    {"lines that end with CR", "print('''a\rb''')\rprint(2)\r"},
    {"a form feed", "\fprint(1)\n\f\nprint(2)\n"},
    {"a byte order mark", "\xef\xbb\xbfprint('\xc3\xa9')\n"},
    {"Latin-1, and says so", "# -*- coding: latin-1 -*-\nprint('\xe9')\n"},
    {"an encoding that there is not", "# coding: klingon\nprint(1)\n"},
    {"no UTF-8", "print(1)\nprint('\xe9')\n"},
    {"no UTF-8 in a comment", "print(1)\n# \xff\xfe\n"},
    {"a byte order mark and another encoding",
     "\xef\xbb\xbf# coding: latin-1\nprint('\xc3\xa9')\n"},
    {"a NUL", with_nul("print(1)\n", "print(2)\n")},
    {"a NUL in a line", with_nul("print(1); x = '", "'; print(2)\n")},
    {"a NUL at its end", with_nul("print(1)\n", "")},
    {"a bracket that nothing closes", "print((1,\n2\n"},
    {"a text that nothing closes", "x = '''abc\n"},
    {"a statement that is cut off", "def f():\n"},
    {"tabs and blanks", "if True:\n        x = 1\n\ty = 2\n"},
    {"a backslash at its end", "x = 1 + \\"},
    {"brackets, deeply nested", std::string(300, '(') + std::string(300, ')')},
    {"an expression, deeply nested", "x = " + std::string(150, '-') + "1\nprint(x)"},
    {"a long line", "x = '" + std::string(200'000, 'x') + "'\nprint(len(x))"},
    {"many lines",
     [] {
       std::string code;
       for (int i = 0; i < 20'000; ++i) code += "x = " + std::to_string(i) + "\n";
       return code + "print(x)\n";
     }()},
    {"return outside of a function", "return 1"},
    {"a warning of the compiler", "x = 1 is 1\nprint('\\d')\nassert (x, 'always')\n"},
    {"a future that there is not", "from __future__ import braces"},
};

// What it knows of its file.
const std::vector<Source> places = {
    {"its name",
     "import sys\nprint(__name__, __file__, __cached__, __spec__, __package__, __doc__, "
     "__builtins__, sys.argv, sys.orig_argv)\nprint(type(__loader__), __loader__.name, "
     "__loader__.path)"},
    {"its names in order", "print(list(globals()))"},
    {"where it looks for modules",
     "import sys; print(sys.path, sys.flags.safe_path, __file__ in sys.path_importer_cache, "
     "'/' in sys.path_importer_cache, '' in sys.path_importer_cache)"},
    {"its user's modules",
     "import site; print(site.ENABLE_USER_SITE, site.USER_SITE, site.USER_BASE)"},
    {"its file",
     "import os; s = os.stat('main.py'); print(oct(s.st_mode), s.st_size, s.st_uid, s.st_nlink, "
     "os.listdir('.'), os.getcwd())\nprint(open(__file__).read() == open('main.py').read())"},
    {"its source",
     "import inspect\ndef f(): return 1\nprint(inspect.getsource(f), inspect.getfile(f))"},
    {"a traceback that it prints",
     "import traceback\ntry: 1/0\nexcept Exception: traceback.print_exc()"},
    {"a traceback after its file has changed",
     "open('main.py', 'w').write('x\\nother text\\n')\n1/0"},
    {"a module beside it",
     "open('mine.py', 'w').write('x = 3'); import mine; print(mine.x, mine.__file__)"},
    {"itself as a module", "print(__name__, __file__)\nif __name__ == '__main__':\n  import main"},
    {"what it may execute", "import os; print(os.access('main.py', os.X_OK))"},
    {"no descriptor of its step",
     "import os\nfor fd in range(3, 64):\n  try: os.fstat(fd); print('there is', fd)\n  except "
     "OSError: pass"},
    {"__file__ in an exit handler", "import atexit\natexit.register(lambda: print(__file__))"},
    {"__file__ in an exit handler after sys.exit",
     "import atexit, sys\natexit.register(lambda: print(__file__))\nsys.exit(0)"},
    {"__file__ in an exit handler after an exception",
     "import atexit, sys\natexit.register(lambda: print(__file__))\n1/0"},
    {"__file__ in a hook", "import sys\nsys.excepthook = lambda *a: print(__file__)\n1/0"},
    {"__file__ in a thread that goes on",
     "import threading, time\ndef f():\n  time.sleep(.05); print('__file__' in globals())\n"
     "threading.Thread(target=f).start()"},
    {"no names at all", "globals().clear()"},
    {"order of stdout and a traceback on one pipe", "import os\nos.dup2(1, 2)\nprint('1')\n1/0"},
    {"order of stdout and an exit's text on one pipe",
     "import os, sys\nos.dup2(1, 2)\nprint('1')\nsys.exit('2')"},
    {"a child that is spawned",
     "import multiprocessing as m, os\ndef f(q): q.put((os.getcwd(), __name__, __file__))\n"
     "if __name__ == '__main__':\n  m.set_start_method('spawn'); q = m.Queue(); p = "
     "m.Process(target=f, args=(q,)); p.start(); print(q.get()); p.join(); print(p.exitcode)"},
    {"a child of a fork server",
     "import multiprocessing as m, os\ndef f(q): q.put((os.getcwd(), __name__, __file__))\n"
     "if __name__ == '__main__':\n  m.set_start_method('forkserver'); q = m.Queue(); p = "
     "m.Process(target=f, args=(q,)); p.start(); print(q.get()); p.join(); print(p.exitcode)"},
    {"where children begin", "import multiprocessing; print(multiprocessing.process.ORIGINAL_DIR)"},
    {"runpy",
     "import runpy\nif __name__ == '__main__': print(runpy.run_path(__file__)['__name__'])"},
    {"a pickle of its own", "import pickle\ndef f(): pass\nprint(pickle.dumps(f))"},
    {"its stack in a recursion error",
     "def f(n):\n  return f(n + 1)\ntry: f(0)\nexcept RecursionError as e:\n  n = 0\n  t = "
     "e.__traceback__\n  while t: n += 1; t = t.tb_next\n  print(n, e)"},
    {"a recursion limit of its own",
     "import sys\nsys.setrecursionlimit(50_000)\ndef f(n): return 0 if n == 0 else 1 + f(n - 1)\n"
     "print(f(40_000))"},
    {"a thread with a larger stack",
     "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(64 << 20)\n"
     "def f(n): return 0 if n == 0 else 1 + f(n - 1)\n"
     "t = threading.Thread(target=lambda: print(f(50_000))); t.start(); t.join()"},
    {"much input", "import sys\nd = sys.stdin.read().split()\nprint(len(d), sum(map(int, d)))",
     [] {
       std::string input;
       for (int i = 0; i < 100'000; ++i) input += std::to_string(i) + "\n";
       return input;
     }()},
    {"much output", "for i in range(20_000): print(i)"},
    {"sys.stdin.readline", "import sys; r = sys.stdin.readline; print([r(), r(), r(), r()])",
     "1\n2\n3"},
    {"input until its end",
     "try:\n  while True: print(input()[::-1])\nexcept EOFError: print('end')", "abc\ndef\n\nx"},
    {"solve() with a guard",
     "import sys\ndef solve():\n  n = int(input()); print(sum(map(int, input().split())))\n"
     "if __name__ == '__main__':\n  solve()",
     "3\n1 2 3\n"},
};

// Made by the interpreter that is to execute it.
std::string made_by(WarmSteps& steps, const std::string& code) {
  const SandboxResult made = steps.cold({{"main.py", code}});
  REQUIRE(made.exit_code == 0);
  REQUIRE(made.stdout.size() > 2);
  return made.stdout;
}

}  // namespace

TEST_CASE("a forked step ends as it would if it were executed") {
  check_alike(endings);
}
TEST_CASE("what a forked step leaves for its end is done as if it were executed") {
  check_alike(afterwards);
}
TEST_CASE("a forked step finds around itself what one finds that is executed") {
  check_alike(surroundings);
}
TEST_CASE("a forked step's standard streams are as if it were executed") {
  check_alike(streams);
}
TEST_CASE("what keeps something of its process works in a forked step") {
  check_alike(modules);
}
TEST_CASE("the text of a forked step is read as an interpreter reads a file") {
  WarmSteps steps;
  for (const Source& each : texts) steps.check_alike(each);
}
TEST_CASE("a forked step knows of its file what one knows that is executed") {
  for (const auto& imported : {std::vector<std::string>{}, common_modules}) {
    INFO("with " << imported.size() << " modules imported ahead");
    WarmSteps steps(imported);
    for (const Source& each : places) steps.check_alike(each);
  }
}

TEST_CASE("what an interpreter executes though it is no source is executed in a fork, too") {
  WarmSteps steps;
  const std::string compiled = made_by(
      steps,
      "import importlib.util, marshal, sys\nc = compile('print(6 * 7, __name__)', 'x', 'exec')\n"
      "sys.stdout.buffer.write(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(c))");
  const std::string archive =
      made_by(steps,
              "import io, sys, zipfile\nb = io.BytesIO()\nwith zipfile.ZipFile(b, 'w') as z: "
              "z.writestr('__main__.py', 'import sys; print(__file__, sys.path[0], sys.argv)')\n"
              "sys.stdout.buffer.write(b.getvalue())");
  CHECK(steps.warm({{"main.py", compiled}}).stdout == "42 __main__\n");
  CHECK(steps.warm({{"main.py", "print('text')\n" + archive}}).stdout.find("__main__.py") !=
        std::string::npos);
  steps.check_alike({"a compiled program", compiled});
  steps.check_alike({"an archive", archive});
  steps.check_alike({"an archive behind a text", "print('text')\n" + archive});
  steps.check_alike({"an archive with a remark", archive + std::string(60'000, ' ')});
  steps.check_alike({"the mark of an archive in a text", "x = b'PK\x05\x06'\nprint(x)"});
}

TEST_CASE("a forked step has all of its files, each byte of them") {
  WarmSteps steps;
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes += static_cast<char>(i * 7);
  const Files files = {
      {"main.py",
       "import hashlib, os\nfor d, s, f in sorted(os.walk('.')):\n  for n in sorted(f): p = "
       "os.path.join(d, n); b = open(p, 'rb').read(); print(p, len(b), "
       "hashlib.sha256(b).hexdigest(), oct(os.stat(p).st_mode), oct(os.stat(d).st_mode))"},
      {"data/large", bytes},
      {"data/deeper/empty", ""},
      {"\xc3\xa9 and a blank", "x"}};
  const SandboxResult warm = steps.warm(files);
  CHECK(warm.exit_code == 0);
  CHECK(warm.stdout.find("data/large 300000") != std::string::npos);
  CHECK(shown(warm) == shown(steps.cold(files)));
}

TEST_CASE("a forked step has the limits of one that is executed, and ends by them as it does") {
  SandboxPolicy policy = policy_of("STRICT");
  policy.wall_clock = std::chrono::seconds(2);
  WarmSteps patient({}, policy);
  const std::string hang = "import time\ntime.sleep(60)";
  CHECK(patient.warm({{"main.py", hang}}).cause == Cause::wall_clock);
  CHECK(patient.cold({{"main.py", hang}}).cause == Cause::wall_clock);

  policy = policy_of("STRICT");
  policy.cpu_seconds = 1;
  policy.output_bytes = 1000;
  policy.fsize_bytes = 1u << 20;
  policy.memory_bytes = 512u << 20;
  WarmSteps steps({}, policy);
  CHECK(steps.warm({{"main.py", "while True: pass"}}).cause == Cause::cpu_limit);
  steps.check_alike({"no end", "while True: pass"});
  steps.check_alike({"too much output", "print('x' * 10_000)"});
  steps.check_alike(
      {"a file that is too large",
       "try: open('f', 'wb', 0).write(bytes(2 << 20)); open('f', 'ab', 0).write(b'x')\n"
       "except OSError as e: print(e)"});
  steps.check_alike(
      {"more memory than there is", "try: bytearray(1 << 30)\nexcept MemoryError: print('none')"});
  steps.check_alike({"a socket that is refused",
                     "import socket\ntry: socket.socket(socket.AF_INET).connect(('1.1.1.1', 80))\n"
                     "except OSError as e: print(type(e), e)"});
}
