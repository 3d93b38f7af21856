// Causes that only the counters of a run's cgroup can tell. They need the controllers memory, pids
// and cpu, which few hosts give to a test.

#include <csignal>
#include <fstream>

#include "kernel/base/fd.hpp"
#include "sandbox/test_cgroup.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;
using std::chrono::milliseconds;

namespace {

// The leaf alone limits: what rlimits refuse would hide it.
SandboxPolicy policy_with_memory_max(std::uint64_t bytes) {
  SandboxPolicy policy = policy_of("DEFAULT");
  policy.memory_bytes.reset();
  policy.cgroup.memory_max = bytes;
  return policy;
}

}  // namespace

TEST_CASE("a leaf counts CPU time and waiting without any controller", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  const CgroupBase prepared{base.path(), {}};
  const CgroupLeaf leaf = CgroupLeaf::create(prepared, "leaf", CgroupLimits{}).value();
  const CgroupUsage unused = leaf.usage();
  CHECK(unused.cpu_usage_us == 0);
  CHECK(unused.oom_kills == 0);
  CHECK(unused.pids_refused == 0);
  CHECK(unused.throttled_us == 0);
  CHECK(unused.cpu_waited_us.has_value() ==
        read_file(base.path() + "/leaf/cpu.pressure", 4096).has_value());
}

TEST_CASE("a run whose memory passes memory_max is killed as a whole, as memory_limit",
          "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  // Method: first without the limit. The program stops by itself at 256 MiB.
  CHECK(run_in(base, policy_with_memory_max(1024 * mib), {program("eat_memory")}).result.cause ==
        Cause::exited);
  for (const char* command : {"exec ", "", "sleep 1000 & "}) {
    INFO(command);
    const std::string marker = make_marker();
    const SandboxResult result =
        run_in(base, policy_with_memory_max(64 * mib),
               {"sh", "-c", command + program("eat_memory") + "; exit 0", marker})
            .result;
    CHECK(result.cause == Cause::memory_limit);
    CHECK(result.rlimit_hit == "memory");
    CHECK(result.killed);
    CHECK_FALSE(result.survivors_unproved);
    CHECK(processes_with(marker).empty());
  }
}

TEST_CASE("memory_limit is seen although only a child died of it and the agent went on",
          "[cgroup]") {
  // Method: the kernel kills the whole leaf, unless it is told to pick one process, which it here
  // is while the run waits for its input.
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  const Sandbox sandbox = Sandbox::open({.cgroup_base = base.path(), .host_uids = {}}).value();
  for (const int code : {0, 1}) {
    INFO("exit " << code);
    RunOptions options;
    options.stdin_stays_open = true;
    auto live = sandbox
                    .start(policy_with_memory_max(64 * mib),
                           {"sh", "-c",
                            "read line; " + program("eat_memory") + " >/dev/null; echo went on; " +
                                "exit " + std::to_string(code)},
                           "", "leaf", std::move(options))
                    .value();
    bool told = false;
    drive_all({live.get()}, [&] {
      if (!live->started() || std::exchange(told, true)) return;
      std::ofstream(base.path() + "/leaf/memory.oom.group") << "0";
      live->close_stdin();
    });
    const SandboxResult result = live->take_result();
    CHECK(result.stdout == "went on\n");
    CHECK(result.cause == Cause::memory_limit);
    CHECK(result.exit_code == code);
    CHECK(result.killed);
  }
}

TEST_CASE("a run that fails after forks were refused at pids_max is pids_limit", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  SandboxPolicy policy = policy_of("DEFAULT");
  policy.nproc.reset();
  policy.cgroup.pids_max = 8;
  const std::string many = "for i in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done; ";
  // dash itself gives up with 2 when it cannot fork.
  const SandboxResult failed = run_in(base, policy, {"sh", "-c", many + "exit 0"}).result;
  CHECK(failed.cause == Cause::pids_limit);
  CHECK(failed.exit_code == 2);
  CHECK_FALSE(failed.killed);
  CHECK_FALSE(failed.survivors_unproved);
  // Refused too, but it coped.
  const SandboxResult coped = run_in(base, policy, {program("count_processes")}).result;
  CHECK(coped.stdout == "6 EAGAIN\n");  // 8 with the launcher and the program itself
  CHECK(coped.cause == Cause::exited);
  // Failed too, but nothing was refused.
  CHECK(run_in(base, policy, {"sh", "-c", "exit 2"}).result.cause == Cause::exited);
}

TEST_CASE("a run that its own cpu_max holds back is wall_clock, not host_overloaded", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  SandboxPolicy policy = policy_of("DEFAULT");
  policy.wall_clock = milliseconds(2000);
  policy.cgroup.cpu_max = 0.1;
  const std::string burn = program("burn_cpu");
  for (const std::string& command : {burn, burn + " & " + burn + " & " + burn}) {
    INFO(command);
    const SandboxResult result = run_in(base, policy, {"sh", "-c", command}).result;
    CHECK(result.cause == Cause::wall_clock);
    CHECK(result.timed_out);
    CHECK(result.cpu_user_us + result.cpu_system_us < 600'000);  // it was held back
  }
}

TEST_CASE("a run that is ended at its deadline is wall_clock although a child died of its memory",
          "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  const Sandbox sandbox = Sandbox::open({.cgroup_base = base.path(), .host_uids = {}}).value();
  SandboxPolicy policy = policy_with_memory_max(64 * mib);
  policy.wall_clock = milliseconds(3000);
  RunOptions options;
  options.stdin_stays_open = true;
  auto live =
      sandbox
          .start(policy, {"sh", "-c", "read line; " + program("eat_memory") + "; exec sleep 1000"},
                 "", "leaf", std::move(options))
          .value();
  bool told = false;
  std::uint64_t oom_kills = 0;
  drive_all({live.get()}, [&] {
    if (!live->started()) return;
    if (!std::exchange(told, true)) {
      std::ofstream(base.path() + "/leaf/memory.oom.group") << "0";
      live->close_stdin();
    }
    const auto events = read_file(base.path() + "/leaf/memory.events", 4096).value_or("");
    if (events.find("oom_kill 1") != std::string::npos) oom_kills = 1;
  });
  CHECK(oom_kills == 1);
  CHECK(live->take_result().cause == Cause::wall_clock);
}
