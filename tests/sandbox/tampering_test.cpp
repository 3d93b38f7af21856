// An agent without a sandbox has the uid of its launcher and can send it signals.

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "kernel/confine/launch_wire.hpp"
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

TEST_CASE("an agent that stops its launcher and exits with 0 is tampered, not a success") {
  become_subreaper();
  for (const char* profile : {"OFF", "DEFAULT"}) {
    for (const char* mode : {"exit", "leave-child"}) {
      INFO(profile << ", " << mode);
      const std::string marker = make_marker();
      const SandboxResult result =
          run(without_landlock(profile), {program("stop_launcher"), mode, marker});
      CHECK(result.cause == Cause::tampered);
      CHECK(result.killed);
      CHECK(result.exit_code == -9);  // what the launcher says when it is continued is not believed
      CHECK(result.duration_s < 0.5);  // the program's own time, without the wait for the report
      CHECK_FALSE(result.survivors_unproved);
      CHECK(processes_with(marker).empty());
    }
  }
}

TEST_CASE("an agent whose child keeps stopping the launcher is tampered, and nothing of it stays") {
  become_subreaper();
  const std::string marker = make_marker();
  const auto begin = Clock::now();
  const SandboxResult result =
      run(policy_of("OFF"), {program("stop_launcher"), "keep-stopping", marker});
  CHECK(Clock::now() - begin < milliseconds(20'000));
  CHECK(result.cause == Cause::tampered);
  CHECK(soon(no_strays_left));
  CHECK(processes_with(marker).empty());
}

TEST_CASE("a report that its init did not send is tampering and is not believed") {
  // Method: root can take what no agent can, the launcher's end of the control socket, and says
  // over it that the agent has exited with 0.
  NEEDS(is_root(), needs_root);
  const Sandbox sandbox = Sandbox::open({}).value();
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    const std::string marker = make_marker();
    const auto live = sandbox
                          .start(policy_of(profile), {"sh", "-c", "sleep 1000; exit 1", marker}, "",
                                 "forged", RunOptions{})
                          .value();
    bool forged = false;
    drive_all({live.get()}, [&] {
      if (!live->started() || std::exchange(forged, true)) return;
      const Fd launcher(static_cast<int>(::syscall(SYS_pidfd_open, live->launcher(), 0)));
      const Fd control(static_cast<int>(::syscall(SYS_pidfd_getfd, launcher.get(), fd_control, 0)));
      REQUIRE(control);
      const ControlMessage message{.kind = ControlKind::agent_exited, .exited = 0};
      CHECK(::send(control.get(), &message, sizeof message, MSG_NOSIGNAL) == sizeof message);
    });
    const SandboxResult result = live->take_result();
    CHECK(result.cause == Cause::tampered);
    CHECK(result.detail.find("process " + std::to_string(::getpid()) + " sent a message") == 0);
    CHECK(result.exit_code == -9);
    CHECK(result.duration_s < 1);
    CHECK_FALSE(result.survivors_unproved);
    CHECK(processes_with(marker).empty());
  }
}

TEST_CASE("an agent that executes another program in its second thread is not taken for gone") {
  // The kernel then gives the thread the pid of the process, whose first thread ends.
  NEEDS(::access("/usr/bin/python3", X_OK) == 0, "python3 is not installed");
  const std::string code =
      "import os, threading\n"
      "t = threading.Thread(target=lambda: os.execvp('sleep', ['sleep', '1000']))\n"
      "t.start()\n"
      "t.join()\n";
  SandboxPolicy policy = policy_of("DEFAULT");
  policy.wall_clock = milliseconds(1500);
  const SandboxResult result = run(policy, {"python3", "-c", code});
  CHECK(result.cause == Cause::wall_clock);  // its timer went on
  CHECK(result.signal == SIGTERM);
}
