// Runs in cgroup v2 leaves of their own. Needs a hierarchy that this process may write to; its
// controllers may be missing, which limits what can be limited but not what can be killed.

#include <csignal>
#include <filesystem>
#include <optional>

#include "kernel/confine/controls.hpp"
#include "sandbox/test_cgroup.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;
using std::chrono::milliseconds;

TEST_CASE("a run is born in its leaf, and the leaf goes with it", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    for (int i = 0; i < 10; ++i) {
      const SandboxResult result = run_in(base, policy_of(profile), {"true"}).result;
      CHECK(result.cause == Cause::exited);
      REQUIRE(result.receipt);
      CHECK(result.receipt->cgroup == prepare_cgroup_base(base.path()).value().proc_path + "/leaf");
      CHECK_FALSE(base.has_children());
    }
  }
}

TEST_CASE("a fork bomb is ended through its cgroup, and the leaf is removed", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  for (const char* profile : {"DEFAULT", "STRICT"}) {
    INFO(profile);
    const std::string marker = make_marker();
    SandboxPolicy policy = policy_of(profile);
    policy.wall_clock = milliseconds(500);
    policy.grace = milliseconds(100);
    const TimedResult outcome = run_in(base, policy, {program("fork_bomb"), marker});
    CHECK(outcome.result.timed_out);  // on a busy host it can be host_overloaded
    CHECK_FALSE(outcome.result.survivors_unproved);
    CHECK(outcome.took < milliseconds(2000));
    CHECK(processes_with(marker).empty());
    CHECK_FALSE(base.has_children());
  }
}

TEST_CASE("with a cgroup nothing outlives an agent that kills its launcher", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  for (const char* profile : {"OFF", "DEFAULT"}) {
    INFO(profile);
    const std::string marker = make_marker();
    SandboxPolicy policy = policy_of(profile);
    policy.landlock.use = LandlockUse::never;  // which would keep the agent from it
    const TimedResult outcome =
        run_in(base, policy, {program("kill_launcher"), std::to_string(SIGKILL), marker});
    CHECK(outcome.result.cause == Cause::tampered);
    CHECK_FALSE(outcome.result.survivors_unproved);  // the empty cgroup is the proof
    CHECK(outcome.took < milliseconds(2000));
    CHECK(processes_with(marker).empty());
    CHECK_FALSE(base.has_children());
  }
}

TEST_CASE("with a cgroup an agent that stops its launcher is ended when its grace is over",
          "[cgroup]") {
  // The init has a quarter of a second to obey; then the cgroup is killed, and that needs no
  // strays.
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  const std::string marker = make_marker();
  SandboxPolicy policy = policy_of("DEFAULT");
  policy.landlock.use = LandlockUse::never;
  policy.wall_clock = milliseconds(200);
  policy.grace = milliseconds(100);
  const TimedResult outcome =
      run_in(base, policy, {program("kill_launcher"), std::to_string(SIGSTOP), marker});
  CHECK(outcome.result.cause == Cause::wall_clock);
  CHECK_FALSE(outcome.result.survivors_unproved);
  CHECK(outcome.took < milliseconds(1500));
  CHECK(processes_with(marker).empty());
  CHECK_FALSE(base.has_children());
}

TEST_CASE("the result names exactly the controls that the leaf does not have", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  const Sandbox sandbox = Sandbox::open({.cgroup_base = base.path()}).value();
  SandboxPolicy policy = policy_of("STRICT");
  const auto missing = missing_controls(policy, sandbox.host(), sandbox.cgroup());
  CHECK(run_in(base, policy, {"true"}).result.degraded ==
        record_or_refuse(policy, missing).value());
  // What is required and missing is refused; where nothing is missing the run starts.
  policy.cgroup.use = CgroupUse::required;
  const auto plan = sandbox.preview(policy, {"true"}, "");
  CHECK(plan.has_value() == missing.empty());
  if (!plan) CHECK(plan.error().code == ErrorCode::sandbox_not_available);
}

TEST_CASE("a cgroup that the profile does not want is not made", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  SandboxPolicy policy = policy_of("DEFAULT");
  policy.cgroup = {.use = CgroupUse::never,
                   .memory_max = std::nullopt,
                   .pids_max = std::nullopt,
                   .cpu_max = std::nullopt};
  const Sandbox sandbox = Sandbox::open({.cgroup_base = base.path()}).value();
  auto live = sandbox.start(policy, {"true"}, "", "leaf", RunOptions{}).value();
  CHECK_FALSE(base.has_children());
  drive_all({live.get()});
  CHECK(missing_of_cgroup(live->take_result()).empty());
}

TEST_CASE("a required control without any cgroup is refused, or recorded if that was asked for",
          "[cgroup]") {
  SandboxPolicy policy = policy_of("DEFAULT");
  policy.cgroup.use = CgroupUse::required;
  const Sandbox sandbox = Sandbox::open({}).value();
  const auto refused = sandbox.start(policy, {"true"}, "", "run", RunOptions{});
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        Error{ErrorCode::sandbox_not_available,
              "profile 'DEFAULT' requires what this host does not give: NO-MEMORY-CEILING(cgroup), "
              "NO-PIDS-CEILING(cgroup) (no cgroup v2 is used here)"});
  policy.allow_degraded = true;
  const SandboxResult result = run(policy, {"true"});
  CHECK(missing_of_cgroup(result) ==
        std::vector<std::string>{"NO-MEMORY-CEILING(cgroup)", "NO-PIDS-CEILING(cgroup)"});
}
