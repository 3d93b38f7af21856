// The limits of a run's cgroup, each provoked by a real process. They need the controllers memory,
// pids and cpu, which few hosts give to a test: tests/vm has a machine that does.

#include <csignal>
#include <fstream>

#include "sandbox/test_cgroup.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;
using std::chrono::duration;
using std::chrono::milliseconds;

namespace {

// A profile in which only the cgroup limits memory, processes and CPU.
SandboxPolicy only_cgroup(const std::string& profile) {
  SandboxPolicy policy = policy_of(profile);
  policy.memory_bytes = std::nullopt;
  policy.nproc = std::nullopt;
  policy.cpu_seconds = std::nullopt;
  policy.cgroup = {.use = CgroupUse::required,
                   .memory_max = std::nullopt,
                   .pids_max = std::nullopt,
                   .cpu_max = std::nullopt};
  return policy;
}

bool host_has_swap() {
  std::ifstream swaps("/proc/swaps");
  std::string line;
  std::getline(swaps, line);  // the heading
  return static_cast<bool>(std::getline(swaps, line));
}

void check_memory_limit(const TestCgroup& base, const SandboxResult& result) {
  CHECK(result.cause == Cause::memory_limit);
  CHECK(result.killed);
  CHECK_FALSE(result.survivors_unproved);
  CHECK(missing_of_cgroup(result).empty());
  CHECK(result.stdout.empty());
  CHECK_FALSE(base.has_children());
}

}  // namespace

TEST_CASE("a program that passes memory_max is killed, as memory_limit", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  // Method: the program stops by itself at 256 MiB, which it gets where the limit is above that.
  SandboxPolicy policy = only_cgroup("OFF");
  policy.cgroup.memory_max = 400 * mib;
  const SandboxResult enough = run_in(base, policy, {program("eat_memory")}).result;
  CHECK(enough.cause == Cause::exited);
  CHECK(enough.stdout == "256\n");
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    policy = only_cgroup(profile);
    policy.cgroup.memory_max = 64 * mib;
    check_memory_limit(base, run_in(base, policy, {program("eat_memory")}).result);
  }
}

TEST_CASE("when a child passes memory_max the whole run is killed, not the child alone",
          "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    SandboxPolicy policy = only_cgroup(profile);
    policy.cgroup.memory_max = 64 * mib;
    const std::string command = program("eat_memory") + "; echo the agent goes on";
    check_memory_limit(base, run_in(base, policy, {"sh", "-c", command}).result);
  }
}

TEST_CASE("memory_max holds for all processes of a run together", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  SandboxPolicy policy = only_cgroup("DEFAULT");
  policy.memory_bytes = 300 * mib;  // more than each of them takes
  policy.cgroup.memory_max = 400 * mib;
  policy.wall_clock = std::chrono::seconds(30);
  const std::string eat = program("eat_memory") + " keep >/dev/null";
  check_memory_limit(base, run_in(base, policy, {"sh", "-c", eat + " & " + eat + "; wait"}).result);
}

TEST_CASE("a run does not pass memory_max by way of swap", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  NEEDS(host_has_swap(), no_swap);
  SandboxPolicy policy = only_cgroup("OFF");
  policy.cgroup.memory_max = 128 * mib;  // the rest of 256 MiB would go to swap
  check_memory_limit(base, run_in(base, policy, {program("eat_memory")}).result);
}

TEST_CASE("files in a tmpfs of the sandbox count as memory of the run", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  SandboxPolicy policy = only_cgroup("STRICT");
  policy.cgroup.memory_max = 32 * mib;
  check_memory_limit(
      base,
      run_in(base, policy, {"sh", "-c", "head -c 60M /dev/zero >/tmp/file; echo written"}).result);
}

TEST_CASE("pids_max refuses a run its next process", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  SandboxPolicy policy = only_cgroup("OFF");
  policy.cgroup.pids_max = 40;
  const SandboxResult result = run_in(base, policy, {program("count_processes")}).result;
  CHECK(result.cause == Cause::exited);
  CHECK(result.stdout == "38 EAGAIN\n");  // besides the init and the agent itself
  CHECK_FALSE(base.has_children());
}

TEST_CASE("pids_max alone holds a fork bomb until its run is ended", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  const Sandbox sandbox = Sandbox::open({.cgroup_base = base.path(), .host_uids = {}}).value();
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    const std::string marker = make_marker();
    SandboxPolicy policy = only_cgroup(profile);
    policy.cgroup.pids_max = 40;
    policy.wall_clock = milliseconds(1000);
    policy.grace = milliseconds(100);
    std::size_t most = 0;
    const SandboxResult result = [&] {
      const auto live =
          sandbox.start(policy, {program("fork_bomb"), marker}, "", "leaf", RunOptions{}).value();
      drive_all({live.get()}, [&] { most = std::max(most, processes_with(marker).size()); });
      return live->take_result();
    }();
    CHECK(most > 5);  // else there was no bomb
    CHECK(most < 40);
    CHECK(result.cause == Cause::wall_clock);
    CHECK_FALSE(result.survivors_unproved);
    CHECK(processes_with(marker).empty());
    CHECK_FALSE(base.has_children());
  }
}

TEST_CASE("cpu_max slows a run down, however many processes it has", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  const std::string burn = program("burn_cpu") + " 0.6";
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    SandboxPolicy policy = only_cgroup(profile);
    policy.cgroup.cpu_max = 0.5;
    const TimedResult ended = run_in(base, policy, {"sh", "-c", burn + " & " + burn + "; wait"});
    CHECK(ended.result.cause == Cause::exited);
    const double used =
        static_cast<double>(ended.result.cpu_user_us + ended.result.cpu_system_us) / 1e6;
    const double took = duration<double>(ended.took).count();
    INFO(used << " s of CPU time in " << took << " s");
    CHECK(used > 1.1);
    CHECK(used / took < 0.6);
    CHECK(used / took > 0.3);
    CHECK_FALSE(base.has_children());
  }
}
