// Runs in cgroup v2 leaves of their own. Needs a hierarchy that this process may write to; its
// controllers may be missing, which limits what can be limited but not what can be killed.

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "kernel/confine/controls.hpp"
#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;
using std::chrono::milliseconds;

namespace {

// A cgroup below which the test makes its leaves, removed with it. Empty where there is none.
class TestBase {
 public:
  TestBase() {
    std::ifstream mounts("/proc/mounts");
    for (std::string line; std::getline(mounts, line);) {
      std::istringstream words(line);
      std::string device;
      std::string where;
      std::string type;
      words >> device >> where >> type;
      if (type != "cgroup2" || ::access(where.c_str(), W_OK) != 0) continue;
      const std::string path = where + "/paddock-test-" + std::to_string(::getpid());
      if (::mkdir(path.c_str(), 0755) == 0) path_ = path;
      return;
    }
  }
  ~TestBase() {
    if (!path_.empty()) ::rmdir(path_.c_str());
  }

  explicit operator bool() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  bool has_leaves() const {
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      if (entry.is_directory()) return true;
    return false;
  }

 private:
  std::string path_;
};

struct Outcome {
  SandboxResult result;
  Clock::duration took{};
};

Outcome run_in(const TestBase& base, const SandboxPolicy& policy, const Argv& argv) {
  const Sandbox sandbox = Sandbox::open({.cgroup_base = base.path(), .host_uids = {}}).value();
  const auto begin = Clock::now();
  auto live = sandbox.start(policy, argv, "", "leaf", RunOptions{}).value();
  CHECK(std::filesystem::exists(base.path() + "/leaf"));
  drive_all({live.get()});
  return {live->take_result(), Clock::now() - begin};
}

}  // namespace

TEST_CASE("a run is born in its leaf, and the leaf goes with it") {
  const TestBase base;
  NEEDS(base, no_cgroup2);
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    for (int i = 0; i < 10; ++i) {
      const SandboxResult result = run_in(base, policy_of(profile), {"true"}).result;
      CHECK(result.cause == Cause::exited);
      REQUIRE(result.receipt);
      CHECK(result.receipt->cgroup.ends_with("/paddock-test-" + std::to_string(::getpid()) +
                                             "/leaf"));
      CHECK_FALSE(base.has_leaves());
    }
  }
}

TEST_CASE("a fork bomb is ended through its cgroup, and the leaf is removed") {
  const TestBase base;
  NEEDS(base, no_cgroup2);
  for (const char* profile : {"DEFAULT", "STRICT"}) {
    INFO(profile);
    const std::string marker = make_marker();
    SandboxPolicy policy = policy_of(profile);
    policy.wall_clock = milliseconds(500);
    policy.grace = milliseconds(100);
    const Outcome outcome = run_in(base, policy, {program("fork_bomb"), marker});
    CHECK(outcome.result.cause == Cause::wall_clock);
    CHECK_FALSE(outcome.result.survivors_unproved);
    CHECK(outcome.took < milliseconds(2000));
    CHECK(processes_with(marker).empty());
    CHECK_FALSE(base.has_leaves());
  }
}

TEST_CASE("with a cgroup nothing outlives an agent that kills its launcher") {
  const TestBase base;
  NEEDS(base, no_cgroup2);
  for (const char* profile : {"OFF", "DEFAULT"}) {
    INFO(profile);
    const std::string marker = make_marker();
    SandboxPolicy policy = policy_of(profile);
    policy.landlock.use = LandlockUse::never;  // which would keep the agent from it
    const Outcome outcome =
        run_in(base, policy, {program("kill_launcher"), std::to_string(SIGKILL), marker});
    CHECK(outcome.result.cause == Cause::tampered);
    CHECK_FALSE(outcome.result.survivors_unproved);  // the empty cgroup is the proof
    CHECK(outcome.took < milliseconds(2000));
    CHECK(processes_with(marker).empty());
    CHECK_FALSE(base.has_leaves());
  }
}

TEST_CASE("with a cgroup an agent that stops its launcher is ended when its grace is over") {
  // The init has a quarter of a second to obey; then the cgroup is killed, and that needs no
  // strays.
  const TestBase base;
  NEEDS(base, no_cgroup2);
  const std::string marker = make_marker();
  SandboxPolicy policy = policy_of("DEFAULT");
  policy.landlock.use = LandlockUse::never;
  policy.wall_clock = milliseconds(200);
  policy.grace = milliseconds(100);
  const Outcome outcome =
      run_in(base, policy, {program("kill_launcher"), std::to_string(SIGSTOP), marker});
  CHECK(outcome.result.cause == Cause::wall_clock);
  CHECK_FALSE(outcome.result.survivors_unproved);
  CHECK(outcome.took < milliseconds(1500));
  CHECK(processes_with(marker).empty());
  CHECK_FALSE(base.has_leaves());
}

TEST_CASE("the result names exactly the controls that the leaf does not have") {
  const TestBase base;
  NEEDS(base, no_cgroup2);
  const Sandbox sandbox = Sandbox::open({.cgroup_base = base.path(), .host_uids = {}}).value();
  SandboxPolicy policy = policy_of("STRICT");
  const auto missing = missing_controls(policy, sandbox.host(), sandbox.cgroup_base());
  CHECK(run_in(base, policy, {"true"}).result.degraded ==
        record_or_refuse(policy, missing).value());
  // What is required and missing is refused; where nothing is missing the run starts.
  policy.cgroup.use = CgroupUse::required;
  const auto plan = sandbox.preview(policy, {"true"}, "");
  CHECK(plan.has_value() == missing.empty());
  if (!plan) CHECK(plan.error().code == ErrorCode::sandbox_not_available);
}

TEST_CASE("a cgroup that the profile does not want is not made") {
  const TestBase base;
  NEEDS(base, no_cgroup2);
  SandboxPolicy policy = policy_of("DEFAULT");
  policy.cgroup = {.use = CgroupUse::never,
                   .memory_max = std::nullopt,
                   .pids_max = std::nullopt,
                   .cpu_max = std::nullopt};
  const Sandbox sandbox = Sandbox::open({.cgroup_base = base.path(), .host_uids = {}}).value();
  auto live = sandbox.start(policy, {"true"}, "", "leaf", RunOptions{}).value();
  CHECK_FALSE(base.has_leaves());
  drive_all({live.get()});
  CHECK(live->take_result().degraded.empty());
}

TEST_CASE("a required control without any cgroup is refused, or recorded if that was asked for") {
  SandboxPolicy policy = policy_of("DEFAULT");
  policy.cgroup.use = CgroupUse::required;
  const Sandbox sandbox = Sandbox::open({}).value();
  const auto refused = sandbox.start(policy, {"true"}, "", "run", RunOptions{});
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        Error{ErrorCode::sandbox_not_available,
              "profile 'DEFAULT' requires what this host does not give: NO-MEMORY-CEILING(cgroup) "
              "(no cgroup v2 is delegated to paddock), NO-PIDS-CEILING(cgroup) (no cgroup v2 is "
              "delegated to paddock)"});
  policy.allow_degraded = true;
  const SandboxResult result = run(policy, {"true"});
  CHECK(result.degraded ==
        std::vector<std::string>{"NO-MEMORY-CEILING(cgroup)", "NO-PIDS-CEILING(cgroup)"});
}
