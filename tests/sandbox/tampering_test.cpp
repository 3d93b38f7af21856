// An agent without a sandbox has the uid of its launcher and can send it signals.

#include <unistd.h>

#include <csignal>

#include "kernel/run/strays.hpp"
#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;
using std::chrono::milliseconds;

namespace {

bool no_strays_left() {
  return kill_strays([](pid_t) { return false; }) == 0;
}

// As on a kernel that cannot keep an agent from signalling its launcher.
SandboxPolicy without_landlock(const std::string& profile) {
  SandboxPolicy policy = policy_of(profile);
  policy.landlock.use = LandlockUse::never;
  return policy;
}

}  // namespace

TEST_CASE("Landlock keeps an agent under DEFAULT from its launcher") {
  NEEDS(Sandbox::open({}).value().host().landlock_abi >= 6, no_signal_scope);
  for (const int signal : {SIGKILL, SIGTERM, SIGSTOP}) {
    INFO(signal);
    const std::string marker = make_marker();
    const SandboxResult result =
        run(policy_of("DEFAULT"), {program("kill_launcher"), std::to_string(signal), marker});
    CHECK(result.cause == Cause::exited);
    CHECK(result.exit_code == 3);  // the program's word for "not permitted"
    CHECK(processes_with(marker).empty());
  }
}

TEST_CASE("an agent that kills its launcher is found out, and nothing of it stays") {
  become_subreaper();
  for (const char* profile : {"OFF", "DEFAULT"}) {
    INFO(profile);
    const std::string marker = make_marker();
    const SandboxResult result =
        run(without_landlock(profile), {program("kill_launcher"), std::to_string(SIGKILL), marker});
    CHECK(result.cause == Cause::tampered);
    CHECK(result.killed);
    CHECK(result.exit_code == -9);
    CHECK(result.survivors_unproved);  // the supervisor must look for strays
    CHECK_FALSE(processes_with(marker).empty());
    CHECK(soon(no_strays_left));
    CHECK(processes_with(marker).empty());
  }
}

TEST_CASE("an agent that tells its launcher to kill everything only ends itself, as tampered") {
  for (const char* profile : {"OFF", "DEFAULT"}) {
    INFO(profile);
    const std::string marker = make_marker();
    const SandboxResult result =
        run(without_landlock(profile), {program("kill_launcher"), std::to_string(SIGTERM), marker});
    CHECK(result.cause == Cause::tampered);
    CHECK_FALSE(result.survivors_unproved);
    CHECK(processes_with(marker).empty());
  }
}

TEST_CASE("an agent that stops its launcher is ended after its deadline all the same") {
  become_subreaper();
  const std::string marker = make_marker();
  SandboxPolicy policy = without_landlock("DEFAULT");
  policy.wall_clock = milliseconds(200);
  policy.grace = milliseconds(100);
  const Sandbox sandbox = Sandbox::open({}).value();
  const auto live = sandbox
                        .start(policy, {program("kill_launcher"), std::to_string(SIGSTOP), marker},
                               "", "stopped", RunOptions{})
                        .value();
  const auto begin = Clock::now();
  drive_all({live.get()});
  // The launcher is continued before it is asked to kill.
  CHECK(Clock::now() - begin < std::chrono::milliseconds(1500));
  const SandboxResult result = live->take_result();
  CHECK(result.cause == Cause::wall_clock);
  CHECK_FALSE(result.survivors_unproved);
  CHECK(soon(no_strays_left));
  CHECK(processes_with(marker).empty());
}

TEST_CASE("a program that asks to be traced is let go, and its stops are not taken for its end") {
  const SandboxResult result = run(policy_of("DEFAULT"), {program("trace_me")});
  CHECK(result.cause == Cause::exited);
  CHECK(result.exit_code == 7);
}
