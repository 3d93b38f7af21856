// What happens to a warm run when a process that it depends on is killed or stuck.

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "kernel/base/process_tree.hpp"
#include "kernel/run/run_sandboxed.hpp"
#include "sandbox/warm_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

std::vector<pid_t> all_below(pid_t pid) {
  std::vector<pid_t> below = children_of(pid);
  for (std::size_t i = 0; i < below.size(); ++i) {
    const std::vector<pid_t> more = children_of(below[i]);
    below.insert(below.end(), more.begin(), more.end());
  }
  return below;
}

// Guard, bubblewrap, init, and the interpreter at last.
pid_t interpreter_of(WarmPython& python) {
  const std::vector<pid_t> below = all_below(python.zygote().launcher());
  REQUIRE_FALSE(below.empty());
  return below.back();
}

bool is_gone(pid_t pid) {
  return ::kill(pid, 0) != 0 && errno == ESRCH;
}

void become_own_subreaper() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

}  // namespace

TEST_CASE("a run that is asked of a zygote that was killed cannot be started, or ends unstarted") {
  WarmPython python(policy_of("STRICT"));
  ::kill(interpreter_of(python), SIGKILL);
  drive(python.zygote());
  auto run = python.sandbox().start_warm(python.line(), python.policy(),
                                         {"python3", "-I", "-c", "print(1)"}, "r-late", {});
  if (!run) {
    CHECK(run.error().code == ErrorCode::io);
    return;
  }
  const SandboxResult result = finish(**run);
  CHECK_FALSE((*run)->started());
  CHECK(result.cause == Cause::cannot_isolate);
}

TEST_CASE("a zygote that is killed between the request and the birth ends the run unstarted") {
  WarmPython python(policy_of("STRICT"));
  const pid_t zygote = interpreter_of(python);
  REQUIRE(::kill(zygote, SIGSTOP) == 0);
  const auto run = python.start("print(1)");
  drive_for({run.get()}, milliseconds(100));
  CHECK_FALSE(run->finished());
  CHECK(run->launcher() == -1);
  ::kill(zygote, SIGKILL);
  const auto began = Clock::now();
  const SandboxResult result = finish(*run);
  CHECK(Clock::now() - began < seconds(2));
  CHECK_FALSE(run->started());
  CHECK(result.cause == Cause::cannot_isolate);
  CHECK_FALSE(result.receipt);
  CHECK_FALSE(result.survivors_unproved);
  CHECK(result.stdout.empty());
}

TEST_CASE("a run that is killed while its zygote is stuck is over, and is never born after that") {
  WarmPython python(policy_of("STRICT"));
  const pid_t zygote = interpreter_of(python);
  REQUIRE(::kill(zygote, SIGSTOP) == 0);
  const std::string marker = make_marker();
  auto run = python.start("import time; time.sleep(30) # " + marker);
  drive_for({run.get()}, milliseconds(50));
  run->kill();
  const auto began = Clock::now();
  const SandboxResult result = finish(*run);
  CHECK(Clock::now() - began < seconds(10));
  CHECK_FALSE(run->started());
  CHECK(result.cause == Cause::killed_by_request);
  run.reset();
  REQUIRE(::kill(zygote, SIGCONT) == 0);
  // It forks now what it was asked for, of which nothing stays: nobody is there to let it go on.
  drive_for({&python.zygote()}, milliseconds(300));
  CHECK(soon([&] { return children_of(zygote).empty(); }));
  CHECK(python.run("print(2)").stdout == "2\n");
}

TEST_CASE("a zygote that is killed at any moment after a request leaves nothing of the run") {
  become_own_subreaper();
  std::mt19937 random(3);
  for (int i = 0; i < 25; ++i) {
    WarmPython python(policy_of("STRICT"));
    const pid_t guard = python.zygote().launcher();
    const pid_t zygote = interpreter_of(python);
    const auto delay = microseconds(random() % 12'000);
    INFO("killed after " << delay.count() << " us");
    const auto run = python.start("import time; print('begun', flush=True); time.sleep(30)");
    std::thread killer([&] {
      std::this_thread::sleep_for(delay);
      ::kill(zygote, SIGKILL);
    });
    drive_all({run.get(), &python.zygote()});
    killer.join();
    const bool started = run->started();
    const SandboxResult result = run->take_result();
    INFO(name_of(result.cause) << ": " << result.detail);
    CHECK(result.exit_code != 0);
    if (!started) CHECK(result.stdout.empty());
    if (!started) CHECK(result.cause == Cause::cannot_isolate);
    CHECK_FALSE(result.survivors_unproved);
    CHECK(is_gone(guard));
    CHECK(is_gone(zygote));
  }
}

TEST_CASE("a warm run whose init is killed is over, and its zygote serves the next") {
  WarmPython python(policy_of("STRICT"));
  const pid_t zygote = interpreter_of(python);
  const std::string marker = make_marker();
  const auto run =
      python.start("import subprocess; subprocess.run(['sh', '-c', 'sleep 30; : " + marker + "'])");
  drive_until({run.get()}, [&] { return !processes_with(marker).empty(); });
  REQUIRE(run->launcher() > 0);
  ::kill(run->launcher(), SIGKILL);
  const SandboxResult result = finish(*run);
  CHECK(result.cause == Cause::tampered);
  CHECK(processes_with(marker).empty());
  CHECK(soon([&] { return children_of(zygote).empty(); }));
  CHECK(python.run("print(2)").stdout == "2\n");
}

TEST_CASE("a zygote that is ended while it has a run takes the run along") {
  WarmPython python(policy_of("STRICT"));
  const auto run = python.start("import time; time.sleep(30)");
  drive_for({run.get()}, milliseconds(300));
  const pid_t init = run->launcher();
  REQUIRE(init > 0);
  python.zygote().kill();
  drive_all({run.get(), &python.zygote()});
  CHECK(is_gone(init));
  CHECK_FALSE(run->take_result().survivors_unproved);
}

TEST_CASE("a supervisor that is killed takes its zygotes and their runs along") {
  become_own_subreaper();
  std::mt19937 random(4);
  for (int i = 0; i < 12; ++i) {
    const auto delay = microseconds(i == 0 ? 300'000 : random() % 12'000);
    INFO("killed after " << delay.count() << " us");
    const auto ready = make_pipe();
    REQUIRE(ready);
    const pid_t supervisor = ::fork();
    if (supervisor == 0) {
      auto* const python = new WarmPython(policy_of("STRICT"));
      const auto run =
          python->start("import os, time\nif os.fork() == 0: os.setsid()\ntime.sleep(60)");
      [[maybe_unused]] const ssize_t told = ::write(ready->write_end.get(), "x", 1);
      drive(*run);
      ::_exit(0);
    }
    char byte = 0;
    REQUIRE(::read(ready->read_end.get(), &byte, 1) == 1);
    std::this_thread::sleep_for(delay);
    const std::vector<pid_t> below = all_below(supervisor);
    CHECK(below.size() >= 4);
    ::kill(supervisor, SIGKILL);
    CHECK(soon([] {  // what is orphaned comes to this process
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      return children_of(::getpid()).empty();
    }));
    for (const pid_t pid : below) CHECK(is_gone(pid));
  }
}
