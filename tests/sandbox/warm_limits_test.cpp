// Each limit of a profile, provoked in a warm run; and how warm runs are stopped.

#include <signal.h>

#include "kernel/run/run_sandboxed.hpp"
#include "sandbox/warm_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

SandboxPolicy limited() {
  SandboxPolicy policy = policy_of("STRICT");
  policy.wall_clock = seconds(20);
  return policy;
}

struct Heard {
  std::unique_ptr<Run> run;
  std::shared_ptr<std::string> text = std::make_shared<std::string>();
};

// A run that has written a line.
Heard start_and_hear(WarmPython& python, const std::string& code) {
  Heard heard;
  RunOptions options;
  options.on_output = [text = heard.text](Stream, std::string_view piece) { *text += piece; };
  heard.run = python.start(code, std::move(options));
  const auto deadline = Clock::now() + seconds(20);
  drive_until({heard.run.get()}, [&] { return !heard.text->empty() || Clock::now() > deadline; });
  REQUIRE_FALSE(heard.run->finished());
  REQUIRE_FALSE(heard.text->empty());
  return heard;
}

}  // namespace

TEST_CASE("a warm run that spins is ended by its CPU limit, and its seconds are its own") {
  SandboxPolicy policy = limited();
  policy.cpu_seconds = 1;
  WarmPython python(policy);
  for (int i = 0; i < 2; ++i) {
    const SandboxResult result = python.run("while True: pass");
    CHECK(result.cause == Cause::cpu_limit);
    CHECK(result.cpu_user_us + result.cpu_system_us > 800'000);
    CHECK(result.cpu_user_us + result.cpu_system_us < 4'000'000);
  }
}

TEST_CASE("a warm run that wants more memory than its limit is refused it") {
  SandboxPolicy policy = limited();
  policy.memory_bytes = 256u << 20;
  WarmPython python(policy);
  const SandboxResult result = python.run(
      "try: bytearray(300 << 20)\nexcept MemoryError: print('refused')\nbytearray(64 << 20)");
  CHECK(result.stdout == "refused\n");
  CHECK(result.exit_code == 0);
}

TEST_CASE("a warm run that writes a longer file than its limit is refused it") {
  SandboxPolicy policy = limited();
  policy.fsize_bytes = 1u << 20;
  WarmPython python(policy);
  CHECK(
      python
          .run("try: open('f', 'wb').write(b'x' * (2 << 20))\nexcept OSError as e: print(e.errno)")
          .stdout == "27\n");
  CHECK(python
            .run("import signal, os\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nopen('f', "
                 "'wb').write(b'x' * (2 << 20))")
            .exit_code == -SIGXFSZ);
}

TEST_CASE("a tmpfs of a warm run holds what its profile says, each time anew") {
  SandboxPolicy policy = limited();
  policy.tmp_bytes = 1u << 20;
  policy.workspace_bytes = 2u << 20;
  WarmPython python(policy);
  const std::string fill =
      "import os\nfor p in ('/tmp', '/dev/shm', '/home/agent', '/workspace'):\n"
      "  f = os.open(p + '/f', os.O_CREAT | os.O_WRONLY); n = 0\n"
      "  try:\n    while True: n += os.write(f, b'x' * 65536)\n"
      "  except OSError as e: print(e.errno, n)\n";
  for (int i = 0; i < 2; ++i)
    CHECK(python.run(fill).stdout == "28 1048576\n28 1048576\n28 1048576\n28 2097152\n");
}

TEST_CASE("a warm run's limit of processes counts this run's alone, and holds a fork bomb") {
  SandboxPolicy policy = limited();
  policy.nproc = 8;
  WarmPython python(policy);
  const std::string count =
      "import os, time\nn = 0\ntry:\n  while True:\n    if os.fork() == 0: time.sleep(60); "
      "os._exit(0)\n    n += 1\n"
      "except BlockingIOError: print(n)";
  for (int i = 0; i < 2; ++i) {
    const SandboxResult result = python.run(count);
    CHECK(result.cause == Cause::exited);
    CHECK(result.stdout == python.run_cold(count).stdout);
    CHECK_FALSE(result.survivors_unproved);
  }
  const SandboxResult bomb =
      python.run("import os\nwhile True:\n  try: os.fork()\n  except OSError: break\nos._exit(0)");
  CHECK_FALSE(bomb.survivors_unproved);
  CHECK(python.run("print(1)").stdout == "1\n");
}

TEST_CASE("a warm run opens no more files than its limit") {
  SandboxPolicy policy = limited();
  policy.nofile = 64;
  WarmPython python(policy);
  const std::string code =
      "n = []\ntry:\n  while True: n.append(open('/dev/null'))\nexcept OSError as e: "
      "print(e.errno, len(n))";
  CHECK(python.run(code).stdout == "24 61\n");
  CHECK(python.run_cold(code).stdout == "24 61\n");
}

TEST_CASE("no limit of a warm run can be raised by it") {
  WarmPython python(limited());
  CHECK(python
            .run("import resource as r\nraised = []\n"
                 "for n in dir(r):\n"
                 "  if not n.startswith('RLIMIT_'): continue\n"
                 "  s, h = r.getrlimit(getattr(r, n))\n"
                 "  if h == r.RLIM_INFINITY: continue\n"
                 "  try: r.setrlimit(getattr(r, n), (h + 1, h + 1)); raised.append(n)\n"
                 "  except (ValueError, OSError): pass\n"
                 "print(raised)")
            .stdout == "[]\n");
}

TEST_CASE("a warm run is ended at its deadline, with its grace, and no later") {
  SandboxPolicy policy = limited();
  policy.wall_clock = milliseconds(300);
  policy.grace = milliseconds(300);
  WarmPython python(policy);
  const SandboxResult asleep = python.run("import time; time.sleep(60)");
  CHECK(asleep.cause == Cause::wall_clock);
  CHECK(asleep.exit_code == -SIGTERM);
  const SandboxResult polite = python.run(
      "import signal, sys, time\ndef f(*a): print('bye'); sys.exit(0)\n"
      "signal.signal(signal.SIGTERM, f)\ntime.sleep(60)");
  CHECK(polite.cause == Cause::wall_clock);
  CHECK(polite.stdout == "bye\n");
  CHECK(polite.exit_code == 0);
  const SandboxResult deaf = python.run(
      "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)");
  CHECK(deaf.cause == Cause::wall_clock);
  CHECK(deaf.exit_code == -SIGKILL);
  CHECK(deaf.duration_s >= 0.6);
  CHECK(deaf.duration_s < 5);
}

TEST_CASE("SIGTERM reaches the whole process group of a warm program") {
  WarmPython python(limited());
  Heard heard = start_and_hear(
      python,
      "import os, signal, time\nsignal.signal(signal.SIGTERM, lambda *a: os.write(1, b'T'))\n"
      "if os.fork() == 0:\n  print('go', flush=True); time.sleep(30); os._exit(0)\n"
      "time.sleep(1)\nos.kill(0, 9)");
  heard.run->stop();
  finish(*heard.run);
  CHECK(*heard.text == "go\nTT");
}

TEST_CASE("a flood of a warm run is cut, and stopped where that is asked for") {
  SandboxPolicy policy = limited();
  policy.output_bytes = 4096;
  WarmPython cut(policy);
  const SandboxResult flood = cut.run("import os\nfor i in range(1000): os.write(1, b'y' * 1000)");
  CHECK(flood.cause == Cause::exited);
  CHECK(flood.stdout_truncated);
  CHECK(flood.stdout_bytes == 1'000'000);
  policy.output_stop_bytes = 1u << 20;
  WarmPython stopped(policy);
  CHECK(stopped.run("while True: print('y' * 1000)").cause == Cause::output_limit);
}

TEST_CASE("a warm run that is killed is gone at once, its descendants with it") {
  WarmPython python(limited());
  const std::string marker = make_marker();
  Heard heard = start_and_hear(
      python, "import subprocess\nsubprocess.Popen(['sh', '-c', 'sleep 99; : " + marker +
                  "'], start_new_session=True)\nprint('go', flush=True)\nwhile True: pass");
  REQUIRE(soon([&] { return !processes_with(marker).empty(); }));
  heard.run->kill();
  const SandboxResult result = finish(*heard.run);
  CHECK(result.cause == Cause::killed_by_request);
  CHECK(result.exit_code == -SIGKILL);
  CHECK_FALSE(result.survivors_unproved);
  CHECK(processes_with(marker).empty());
  CHECK(python.run("print(1)").stdout == "1\n");
}

TEST_CASE("a daemon that a warm run leaves is killed before the run is over") {
  WarmPython python(limited());
  const std::string marker = make_marker();
  const SandboxResult result = python.run(
      "import os, subprocess\n"
      "if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n"
      "    os.execvp('sh', ['sh', '-c', 'trap \"\" TERM HUP; while :; do sleep 1; done; : " +
      marker +
      "'])\n"
      "  os._exit(0)\nos.wait(); print('left')");
  CHECK(result.cause == Cause::exited);
  CHECK(result.stdout == "left\n");
  CHECK_FALSE(result.survivors_unproved);
  CHECK(processes_with(marker).empty());
}

TEST_CASE("a frozen warm run stands still, and can be killed") {
  WarmPython python(limited());
  Heard heard =
      start_and_hear(python, "import time\nwhile True: print('x', flush=True); time.sleep(.01)");
  REQUIRE(heard.run->freeze());
  drive_for({heard.run.get()}, milliseconds(100));
  const std::size_t size = heard.text->size();
  drive_for({heard.run.get()}, milliseconds(300));
  CHECK(heard.text->size() == size);
  heard.run->kill();
  CHECK(finish(*heard.run).cause == Cause::killed_by_request);
  CHECK(python.run("print(1)").stdout == "1\n");
}

TEST_CASE("the usage of a warm run is its own: neither its zygote's nor its init's") {
  WarmPython python(limited());
  const SandboxResult idle = python.run("pass");
  CHECK(idle.cpu_user_us + idle.cpu_system_us < 1'000'000);
  CHECK(idle.max_rss_bytes > 1u << 20);
  const SandboxResult big = python.run("b = bytearray(100 << 20)");
  CHECK(big.max_rss_bytes > 100u << 20);
  CHECK(big.max_rss_bytes < 200u << 20);
  const SandboxResult busy = python.run("import time\nwhile time.process_time() < .3: pass");
  CHECK(busy.cpu_user_us + busy.cpu_system_us > 290'000);
  CHECK(python.run("pass").cpu_user_us < 290'000);
}

TEST_CASE("a warm run's host uid is its zygote's lease, and nobody else's") {
  NEEDS(is_root(), needs_root);
  WarmPython one(limited());
  WarmPython other(limited());
  const SandboxResult a = one.run("pass");
  const SandboxResult b = other.run("pass");
  REQUIRE(a.receipt);
  REQUIRE(b.receipt);
  CHECK(a.receipt->host_uid == one.line().host_uid);
  CHECK(b.receipt->host_uid == other.line().host_uid);
  CHECK(one.line().host_uid != other.line().host_uid);
  CHECK(paddock::tests::run(limited(), {"true"}).receipt->host_uid != one.line().host_uid);
}
