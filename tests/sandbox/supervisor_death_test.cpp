// A supervisor that is killed with SIGKILL leaves nothing running.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include "kernel/base/fd.hpp"
#include "kernel/base/process_tree.hpp"
#include "kernel/policy/scratch_directory.hpp"
#include "kernel/run/run_sandboxed.hpp"
#include "kernel/run/strays.hpp"
#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

void reap_the_dead() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

// This process is the subreaper: whatever is left of the supervisor's run is its child.
bool nothing_is_left() {
  reap_the_dead();
  return children_of(::getpid()).empty();
}

// A supervisor in a process of its own, with one run that lasts and has children.
pid_t fork_supervisor(const Sandbox& sandbox, const SandboxPolicy& policy,
                      const std::string& marker) {
  const std::string command = "setsid sleep 1000 & sleep 1000 & sleep 1000; : " + marker;
  const auto ready = make_pipe();
  REQUIRE(ready);
  const pid_t pid = ::fork();
  if (pid == 0) {
    [[maybe_unused]] const ssize_t told = ::write(ready->write_end.get(), "x", 1);
    auto run = sandbox.start(policy, {"sh", "-c", command}, "", "run", RunOptions{});
    if (run) drive(**run);
    ::_exit(1);
  }
  char byte = 0;
  REQUIRE(::read(ready->read_end.get(), &byte, 1) == 1);
  return pid;
}

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    ScratchDirectory::set_mode(scratch_.path(), 0755);
    ::setenv("TMPDIR", scratch_.path().c_str(), 1);  // a killed supervisor leaves its workspaces
  }
  ~TemporaryDirectory() { ::unsetenv("TMPDIR"); }

 private:
  ScratchDirectory scratch_;
};

}  // namespace

TEST_CASE("a supervisor that is killed takes its running agents along") {
  become_subreaper();
  const TemporaryDirectory temporary;
  const Sandbox sandbox = Sandbox::open({}).value();
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    const std::string marker = make_marker();
    const pid_t supervisor = fork_supervisor(sandbox, policy_of(profile), marker);
    REQUIRE(soon([&] { return !processes_with(marker).empty(); }));
    ::kill(supervisor, SIGKILL);
    CHECK(soon(nothing_is_left));
    CHECK(processes_with(marker).empty());
  }
}

TEST_CASE("a supervisor that is killed at any moment of a start leaves nothing") {
  // Goal: bubblewrap that loses its parent during its set-up leaves a stuck sandbox in one of five
  // tries; the guard around it must not.
  become_subreaper();
  const TemporaryDirectory temporary;
  const Sandbox sandbox = Sandbox::open({}).value();
  std::mt19937 random(1);
  const std::vector<std::pair<const char*, int>> tries = {
      {"OFF", 10}, {"DEFAULT", 10}, {"STRICT", 40}};
  for (const auto& [profile, count] : tries) {
    const SandboxPolicy policy = policy_of(profile);
    for (int i = 0; i < count; ++i) {
      const auto delay = std::chrono::microseconds(random() % 12'000);
      INFO(profile << ", killed after " << delay.count() << " us");
      const std::string marker = make_marker();
      const pid_t supervisor = fork_supervisor(sandbox, policy, marker);
      std::this_thread::sleep_for(delay);
      ::kill(supervisor, SIGKILL);
      REQUIRE(soon(nothing_is_left));
      REQUIRE(processes_with(marker).empty());
    }
  }
}

TEST_CASE("bubblewrap or its guard that is killed at any moment leaves nothing") {
  // Method: SIGKILL to the guard or to one of its first descendants, while the supervisor lives.
  become_subreaper();
  const Sandbox sandbox = Sandbox::open({}).value();
  const SandboxPolicy policy = policy_of("STRICT");
  std::mt19937 random(2);
  for (int i = 0; i < 40; ++i) {
    const auto delay = std::chrono::microseconds(random() % 8'000);
    const bool at_guard = i % 2 == 0;
    INFO("the " << (at_guard ? "guard" : "wrapper") << ", killed after " << delay.count() << " us");
    const auto live = sandbox.start(policy, {"sleep", "0.2"}, "", "run", RunOptions{}).value();
    std::this_thread::sleep_for(delay);
    const pid_t launcher = live->launcher();
    const std::vector<pid_t> below = children_of(launcher);
    if (at_guard) ::kill(launcher, SIGKILL);
    if (!at_guard && !below.empty()) ::kill(below.front(), SIGKILL);
    // As a supervisor does it: orphans are buried while the run still waits for its output.
    drive_all({live.get()}, [&] { kill_strays([&](pid_t pid) { return pid == launcher; }); });
    const SandboxResult result = live->take_result();
    CHECK((result.cause == Cause::cannot_isolate || result.cause == Cause::tampered ||
           result.cause == Cause::exited));
    if (!at_guard) CHECK_FALSE(result.survivors_unproved);
    CHECK(soon([] { return kill_strays([](pid_t) { return false; }) == 0; }));
  }
}
