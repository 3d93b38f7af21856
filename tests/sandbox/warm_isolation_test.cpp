// Goal: nothing of one warm run is found by the next run of the same zygote, nor by the zygote.
// Method: a run leaves something in each place that it can write to, and the next one looks.

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <filesystem>

#include "kernel/base/fd.hpp"
#include "kernel/base/process_tree.hpp"
#include "kernel/run/run_sandboxed.hpp"
#include "sandbox/warm_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

// What a program prints that ends well, and does not complain.
std::string out(WarmPython& python, const std::string& code) {
  const SandboxResult result = python.run(code);
  INFO(code << result.detail << result.stderr);
  CHECK(result.cause == Cause::exited);
  CHECK(result.exit_code == 0);
  CHECK(result.stderr.empty());
  return one_line(result.stdout);
}

// The interpreter of the zygote itself: a child of its init.
pid_t process_of_zygote(WarmPython& python) {
  std::vector<pid_t> below = children_of(python.zygote().launcher());
  for (std::size_t i = 0; i < below.size(); ++i) {
    std::error_code ignored;
    const auto program =
        std::filesystem::read_symlink("/proc/" + std::to_string(below[i]) + "/exe", ignored);
    if (program == python.line().program) return below[i];
    const std::vector<pid_t> more = children_of(below[i]);
    below.insert(below.end(), more.begin(), more.end());
  }
  return -1;
}

std::vector<std::string> descriptors_of(pid_t pid) {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd"))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("a warm program has 0, 1 and 2, and of its supervisor's descriptors no other") {
  // As a supervisor that is careless: each of these is inheritable.
  std::vector<Fd> leaked;
  for (int i = 0; i < 100; ++i) leaked.emplace_back(::open("/dev/null", O_RDWR));
  leaked.emplace_back(::open("/", O_RDONLY | O_DIRECTORY));
  WarmPython python(policy_of("STRICT"));
  for (int i = 0; i < 20; ++i) leaked.emplace_back(::open("/dev/null", O_RDWR));
  const std::string code =
      "import os\n"
      "print([f for f in range(4096) if os.path.lexists(f'/proc/self/fd/{f}')])";
  CHECK(out(python, code) == "[0, 1, 2]");
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  const Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  RunOptions options;
  options.channel = theirs.get();
  CHECK(one_line(python.run(code, std::move(options)).stdout) == "[0, 1, 2, 3]");
  CHECK(out(python, code) == "[0, 1, 2]");
}

TEST_CASE("a warm program talks through its channel, and the other side sees its end") {
  WarmPython python(policy_of("STRICT"));
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  const Fd ours(ends[0]);
  Fd theirs(ends[1]);
  REQUIRE(::write(ours.get(), "question", 8) == 8);
  RunOptions options;
  options.channel = theirs.get();
  const auto run = python.start("import os; os.write(3, os.read(3, 99)[::-1])", std::move(options));
  theirs.close();
  drive(*run);
  CHECK(run->take_result().exit_code == 0);
  char bytes[32] = {};
  CHECK(::read(ours.get(), bytes, sizeof bytes) == 8);
  CHECK(std::string(bytes) == "noitseuq");
  CHECK(::read(ours.get(), bytes, sizeof bytes) == 0);  // nobody else has it, the zygote least
}

TEST_CASE("a zygote has after any number of runs the descriptors that it had before") {
  NEEDS(is_root(), needs_root);  // nobody else sees those of a zygote
  WarmPython python(policy_of("STRICT"));
  const pid_t zygote = process_of_zygote(python);
  REQUIRE(zygote > 0);
  out(python, "print(1)");
  const auto before = descriptors_of(zygote);
  for (int i = 0; i < 30; ++i) out(python, "print(1)");
  CHECK(descriptors_of(zygote) == before);
  CHECK(before == std::vector<std::string>{"0", "1", "2", "3"});
}

TEST_CASE("what a warm run leaves in a file system the next run does not find") {
  WarmPython python(policy_of("STRICT"));
  const std::string places =
      "places = ['/tmp', '/var/tmp', '/workspace', '/home/agent', '/dev/shm', '/dev/pts', "
      "'/run']\n";
  CHECK(out(python, "import os\n" + places +
                        "made = []\n"
                        "for p in places:\n"
                        "  try: open(p + '/left', 'w').write('x'); made.append(p)\n"
                        "  except OSError: pass\n"
                        "print(made)") ==
        "['/tmp', '/var/tmp', '/workspace', '/home/agent', '/dev/shm']");
  CHECK(out(python, "import os\n" + places +
                        "print([p for p in places if os.path.exists(p + '/left')],\n"
                        "      [os.listdir(p) for p in places if p != '/run'])") ==
        "[] [[], [], [], [], [], ['ptmx']]");
}

TEST_CASE("a mode or an owner that a warm run gives to a directory is gone for the next") {
  WarmPython python(policy_of("STRICT"));
  const std::string modes =
      "import os\nprint([oct(os.stat(p).st_mode) for p in ('/tmp', '/workspace', '/dev/shm')])";
  const std::string before = out(python, modes);
  out(python,
      "import os\nfor p in ('/workspace',): os.chmod(p, 0o700 if 'x' else 0); os.chmod(p, "
      "0o511)\nprint()");
  CHECK(out(python, modes) == before);
}

TEST_CASE("System V and POSIX objects of a warm run are gone for the next") {
  WarmPython python(policy_of("STRICT"));
  const std::string libc = "import ctypes\nl = ctypes.CDLL(None, use_errno=True)\n";
  CHECK(out(python, libc + "print(l.shmget(77, 4096, 0o1600) >= 0, l.semget(77, 1, 0o1600) >= 0,\n"
                           "      l.msgget(77, 0o1600) >= 0)") == "True True True");
  CHECK(out(python,
            libc + "print(l.shmget(77, 4096, 0) >= 0, l.semget(77, 1, 0) >= 0,\n"
                   "      l.msgget(77, 0) >= 0, open('/proc/sysvipc/shm').read().count('\\n'))") ==
        "False False False 1");
  CHECK(out(python,
            "from multiprocessing import shared_memory as s, resource_tracker\n"
            "m = s.SharedMemory('left', create=True, size=9); m.buf[0] = 1\n"
            "resource_tracker.unregister(m._name, 'shared_memory'); m.close(); print('made')") ==
        "made");
  CHECK(out(python,
            "from multiprocessing import shared_memory as s\n"
            "try: s.SharedMemory('left'); print('found')\n"
            "except FileNotFoundError: print('none')") == "none");
}

TEST_CASE("sockets of a warm run are gone for the next, which may have the same names") {
  WarmPython python(policy_of("STRICT"));
  const std::string bind =
      "import socket\n"
      "a = socket.socket(socket.AF_UNIX); a.bind('\\0left'); a.listen()\n"
      "t = socket.create_server(('127.0.0.1', 4242))\n"
      "u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(('127.0.0.1', 4242))\n"
      // One end of it stays in TIME_WAIT, had it been another program's namespace.
      "c = socket.create_connection(('127.0.0.1', 4242)); s = t.accept()[0]; s.close(); c.close()\n"
      "print('bound')";
  const std::string look =
      "print([open('/proc/net/' + n).read().count('\\n') - 1 for n in ('tcp', 'udp', 'raw')],\n"
      "      'left' in open('/proc/net/unix').read())";
  for (int i = 0; i < 3; ++i) {
    for (const std::string& code : {bind, look}) {
      const auto run = python.start(code);
      drive(*run);
      if (!run->left_network_alone()) python.line().network_is_used = true;
      const SandboxResult result = run->take_result();
      INFO(result.stderr);
      CHECK(one_line(result.stdout) == (code == bind ? "bound" : "[0, 0, 0] False"));
    }
  }
}

TEST_CASE("no call for a socket goes unseen, from whatever process or thread it comes") {
  const std::vector<std::string> ways = {
      "import socket; socket.socket()",
      "import socket; socket.socketpair()",
      "import socket\ntry: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)\nexcept OSError: pass",
      "import threading, socket\nt = threading.Thread(target=socket.socket); t.start(); t.join()",
      "import os, socket\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: "
      "socket.socket()\n  os._exit(0)\nos.wait()\nimport time; time.sleep(.2)",
      "import subprocess; subprocess.run(['python3', '-c', 'import socket; socket.socket()'])",
      "import ctypes; ctypes.CDLL(None).syscall(41, 2, 1, 0)",
      "import asyncio; asyncio.run(asyncio.sleep(0))",
      // A filter of its own that would have it answered elsewhere.
      "import ctypes, struct\nl = ctypes.CDLL(None)\n"
      "code = struct.pack('HBBI', 6, 0, 0, 0x7ff00000)\n"  // SECCOMP_RET_TRACE
      "b = ctypes.create_string_buffer(code)\n"
      "p = struct.pack('HxxxxxxQ', 1, ctypes.addressof(b))\n"
      "l.syscall(317, 1, 0, ctypes.create_string_buffer(p))\nl.syscall(41, 2, 1, 0)",
  };
  for (const std::string& code : ways) {
    WarmPython python(policy_of("STRICT"));
    const auto run = python.start(code);
    drive(*run);
    const bool alone = run->left_network_alone();
    const SandboxResult result = run->take_result();
    INFO(code << "\n" << name_of(result.cause) << result.stderr);
    // Refused by its own filter, or seen.
    CHECK_FALSE(alone);
  }
}

TEST_CASE("what a run without a call for a socket can do in the shared network leaves no trace") {
  WarmPython python(policy_of("STRICT"));
  const std::string tables =
      "import os\nfor n in sorted(os.listdir('/proc/net')):\n"
      "  if n in ('unix', 'protocols', 'ptype'): continue\n"
      "  try: print(n, open('/proc/net/' + n).read())\n"
      "  except OSError: pass\n";
  const std::string before = out(python, tables);
  CHECK(before.size() > 100);
  const SandboxResult tried = python.run(
      "import glob\nwritten = []\n"
      "for p in glob.glob('/proc/sys/net/**', recursive=True):\n"
      "  try: open(p, 'w').write('1'); written.append(p)\n"
      "  except OSError: pass\n"
      "print(written)");
  CHECK(one_line(tried.stdout) == "[]");
  CHECK(out(python, tables) == before);
}

TEST_CASE("a warm run cannot name the host anew, and its keys are its own") {
  WarmPython python(policy_of("STRICT"));
  CHECK(
      out(python,
          "import socket\ntry: socket.sethostname('left')\nexcept OSError as e: print(e.errno)") ==
      "1");
  CHECK(out(python, "import os; print(os.uname().nodename)") == "sandbox");
  CHECK(out(python,
            "import ctypes\nl = ctypes.CDLL(None)\n"
            "print(l.syscall(248, b'user', b'left', b'x', 1, -4),\n"  // user keyring
            "      l.syscall(248, b'user', b'left', b'x', 1, -3))") == "-1 -1");
}

TEST_CASE("a warm run sees its own processes, and can neither see, signal nor trace its zygote") {
  WarmPython python(policy_of("STRICT"));
  const pid_t zygote = process_of_zygote(python);
  REQUIRE(zygote > 0);
  CHECK(
      out(python, "import os; print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()))") ==
      "[1, 2]");
  CHECK(out(python, "import os\nprint(os.getpid(), os.getppid())\n") == "2 1");
  // Its number is free here: whatever is there is the run's own.
  const std::string number = std::to_string(zygote);
  const std::string attack =
      "import os, ctypes\nl = ctypes.CDLL(None, use_errno=True)\nfound = []\n"
      "for p in list(range(3, 400)) + [" +
      number +
      "]:\n"
      "  for what in (lambda: os.kill(p, 0), lambda: os.kill(p, 9), lambda: os.pidfd_open(p)):\n"
      "    try: what(); found.append(p)\n"
      "    except OSError: pass\n"
      "  if l.ptrace(16, p, 0, 0) == 0: found.append(p)\n"
      "print(found)\n"
      // Its init: seen, and safe from it.
      "got = []\n"
      "for s in range(1, 65):\n"
      "  try: os.kill(1, s); got.append(s)\n"
      "  except OSError: pass\n"
      "try: open('/proc/1/mem', 'r+b'); got.append('mem')\nexcept OSError: pass\n"
      "try: os.listdir('/proc/1/fd'); got.append('fd')\nexcept OSError: pass\n"
      "try: open('/proc/1/maps').read(); got.append('maps')\nexcept OSError: pass\n"
      "try: open('/proc/1/environ').read(); got.append('environ')\nexcept OSError: pass\n"
      "print(got, l.ptrace(16, 1, 0, 0))";
  CHECK(out(python, attack) == "[]\n[] -1");
  CHECK(out(python, "print('still there')") == "still there");
  CHECK_FALSE(python.zygote().finished());
}

TEST_CASE("a warm run has no way to a namespace of its own making, nor to its zygote's") {
  WarmPython python(policy_of("STRICT"));
  CHECK(out(python,
            "import ctypes\nl = ctypes.CDLL(None)\n"
            "print([l.unshare(f) for f in (0x10000000, 0x20000, 0x20000000, 0x40000000, "
            "0x8000000)])") == "[-1, -1, -1, -1, -1]");
  CHECK(out(python, "print(open('/proc/sys/user/max_user_namespaces').read().strip())") == "0");
  CHECK(out(python,
            "try: open('/proc/sys/user/max_user_namespaces', 'w').write('9'); print('opened')\n"
            "except OSError: print('refused')") == "refused");
  CHECK(out(python,
            "import ctypes\nl = ctypes.CDLL(None)\n"
            "print([l.umount2(p, 2) for p in (b'/proc', b'/tmp', b'/dev/pts', b'/dev/shm')])") ==
        "[-1, -1, -1, -1]");
  CHECK(out(python,
            "import os\nprint([os.path.exists('/proc/1/root/' + n) for n in ('etc', 'tmp')])") ==
        "[False, False]");
}

TEST_CASE("namespaces of a warm run are its zygote's in nothing but an unused network") {
  WarmPython python(policy_of("STRICT"));
  std::map<std::string, std::string> last;
  for (int i = 0; i < 3; ++i) {
    const SandboxResult result = python.run("pass");
    REQUIRE(result.receipt);
    REQUIRE(python.zygote().receipt());
    for (const auto& [name, link] : result.receipt->namespaces) {
      INFO(name);
      CHECK((link == python.line().namespaces.at(name)) == (name == "net"));
      // What the zygote says of itself is what was seen of it.
      CHECK(python.line().namespaces.at(name) == python.zygote().receipt()->namespaces.at(name));
    }
  }
}

TEST_CASE(
    "no two runs of a zygote draw the same random numbers, nor one that it could have drawn") {
  // The second has drawn from each of them already.
  WarmPython fresh(policy_of("STRICT"),
                   {"random", "uuid", "secrets", "tempfile", "ssl", "multiprocessing"});
  WarmPython drawn(policy_of("STRICT"), {},
                   {"import random, uuid, secrets, tempfile, ssl, multiprocessing\n"
                    "random.random(), uuid.uuid4(), uuid.uuid1(), secrets.token_hex()\n"
                    "next(tempfile._get_candidate_names()), ssl.RAND_bytes(8)\n"
                    "None"});
  const std::vector<std::pair<const char*, const char*>> draws = {
      {"random", "import random; print(random.random())"},
      {"random.Random()", "import random; print(random.Random().random())"},
      {"SystemRandom", "import random; print(random.SystemRandom().random())"},
      {"os.urandom", "import os; print(os.urandom(8))"},
      {"secrets", "import secrets; print(secrets.token_hex())"},
      {"uuid4", "import uuid; print(uuid.uuid4())"},
      {"uuid1", "import uuid; print(uuid.uuid1())"},
      {"tempfile", "import tempfile; print(next(tempfile._get_candidate_names()))"},
      {"ssl", "import ssl; print(ssl.RAND_bytes(8))"},
      {"multiprocessing's key",
       "import multiprocessing as m; print(bytes(m.current_process().authkey))"},
  };
  for (const auto& [name, code] : draws) {
    INFO(name);
    for (WarmPython* python : {&fresh, &drawn}) {
      const std::string first = out(*python, code);
      const std::string second = out(*python, code);
      CHECK(first.size() >= 8);
      CHECK(first != second);
    }
  }
}

TEST_CASE("what a program changes in the interpreter is as before for the next run") {
  WarmPython python(policy_of("STRICT"), {"json", "math", "random", "threading"});
  CHECK(out(python,
            "import json, math, builtins, sys, os, gc, threading, random\n"
            "json.dumps = math.pi = builtins.len = None\n"
            "sys.path.append('/tmp'); sys.modules['evil'] = json; os.environ['LEFT'] = '1'\n"
            "sys.setrecursionlimit(50000); sys.excepthook = None; gc.disable()\n"
            "random.random = lambda: 0.5\n"
            "for o in gc.get_objects():\n"
            "  if type(o) is dict and o.get('__name__') == '__main__': o['left'] = 1\n"
            "import ctypes; ctypes.memset(id(math), 0x41, 8)\n"
            "print('done'); sys.stdout.flush(); os._exit(0)") == "done");
  CHECK(out(python,
            "import json, math, sys, os, gc, random\n"
            "print(json.dumps([1]), math.pi > 3, len('ab'), '/tmp' in sys.path, 'evil' in "
            "sys.modules,\n"
            "  'LEFT' in os.environ, sys.getrecursionlimit() < 2000, sys.excepthook is None, "
            "gc.isenabled(),\n"
            "  random.random() == 0.5, 'left' in globals())") ==
        "[1] True 2 False False False True False True False False");
}

TEST_CASE("what would share memory with its forks, or has threads, is no zygote and says why") {
  const auto why_not = [](const std::string& program) {
    SandboxPolicy policy = policy_of("STRICT");
    policy.bind_ro.clear();
    policy.bind_ro.emplace_back("/usr");
    const Sandbox sandbox = Sandbox::open({}).value();
    auto zygote = sandbox.start_zygote(
        policy, {.interpreter = {"python3", "-I"}, .modules = {}, .programs = {program}}, "z-not");
    REQUIRE(zygote);
    const auto deadline = Clock::now() + std::chrono::seconds(20);
    bool ready = false;
    drive_until({zygote->run.get()}, [&] {
      const auto says = zygote_says_ready(zygote->line);
      ready = says && *says;
      return ready || Clock::now() > deadline;
    });
    if (!zygote->run->finished()) zygote->run->kill();
    drive(*zygote->run);
    CHECK_FALSE(ready);
    return zygote->run->take_result().stderr;
  };
  CHECK(
      why_not("import mmap\nshared = mmap.mmap(-1, 4096)\nNone")
          .starts_with("cannot be a zygote: a module has mapped memory that forks would share: "));
  CHECK(why_not("import threading, time\n"
                "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nNone") ==
        "cannot be a zygote: a module has started threads\n");
}

TEST_CASE("no page that two runs of a zygote could both write to is mapped in either") {
  WarmPython python(policy_of("STRICT"), {"multiprocessing", "ctypes", "mmap", "sqlite3", "ssl"});
  CHECK(out(python,
            "print([l for l in open('/proc/self/maps') if l.split()[1][1] == 'w' and "
            "l.split()[1][3] == 's'])") == "[]");
}
