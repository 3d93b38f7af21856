// What a program leaves behind is gone when its result is there.

#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {}  // namespace

TEST_CASE("processes that a program leaves behind are gone when its result is there") {
  for (const char* profile : profiles) {
    for (const char* how :
         {"child", "setsid", "double_fork", "orphan_in_session", "daemon", "stopped"}) {
      INFO(profile << ", " << how);
      const std::string marker = make_marker();
      const SandboxResult result = run(policy_of(profile), {program("leave_behind"), how, marker});
      CHECK(processes_with(marker).empty());
      CHECK(result.stdout == "left\n");
      CHECK(result.cause == Cause::exited);
      CHECK(result.exit_code == 0);
      CHECK_FALSE(result.survivors_unproved);
      CHECK_FALSE(result.output_held_open);
    }
  }
}

TEST_CASE("a process whose main thread has ended is killed like any other") {
  // Goal: /proc shows such a process as a zombie although it lives.
  for (const char* profile : profiles) {
    INFO(profile);
    const std::string marker = make_marker();
    const SandboxResult result = run(policy_of(profile), {program("lose_main_thread"), marker});
    CHECK(result.stdout == "left\n");
    CHECK(result.cause == Cause::exited);
    CHECK_FALSE(result.survivors_unproved);
    CHECK(result.duration_s < 1.0);
    // Its command line cannot be read any more, but it would still be a child of somebody here.
    CHECK(processes_with(marker).empty());
  }
}

TEST_CASE("a run is over soon after its program, whatever is left behind") {
  for (const char* profile : profiles) {
    INFO(profile);
    const auto before = Clock::now();
    run(policy_of(profile), {program("leave_behind"), "daemon", make_marker()});
    CHECK(Clock::now() - before < std::chrono::milliseconds(1500));
  }
}

TEST_CASE("many orphans are all gone when the result is there") {
  for (const char* profile : profiles) {
    INFO(profile);
    const std::string marker = make_marker();
    SandboxPolicy policy = policy_of(profile);
    if (policy.nproc) policy.nproc = 300;
    const std::string leave = "for i in $(seq 100); do setsid sh -c 'sleep 1000; : " + marker +
                              "' & done; sleep 0.3; echo left";
    const SandboxResult result = run(policy, {"sh", "-c", leave});
    CHECK(result.stdout == "left\n");
    CHECK(processes_with(marker).empty());
  }
}
