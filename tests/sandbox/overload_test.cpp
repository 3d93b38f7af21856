// A deadline that passes because others have the CPU says nothing about the program.

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "sandbox/test_cgroup.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;
using std::chrono::milliseconds;

namespace {

constexpr auto wall = milliseconds(1500);

cpu_set_t allowed_cpus() {
  cpu_set_t cpus;
  REQUIRE(::sched_getaffinity(0, sizeof cpus, &cpus) == 0);
  return cpus;
}

// All that this process starts while it lives goes to one CPU.
class OnOneCpu {
 public:
  OnOneCpu() : before_(allowed_cpus()) {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &one);
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  }
  ~OnOneCpu() { ::sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCpu(const OnOneCpu&) = delete;
  OnOneCpu& operator=(const OnOneCpu&) = delete;

 private:
  cpu_set_t before_;
};

// Spinners that are no part of any run, each in a session of its own: some kernels share the CPU
// out by session.
class Hogs {
 public:
  explicit Hogs(int count) {
    const std::string burn = program("burn_cpu");
    for (int i = 0; i < count; ++i) {
      const pid_t pid = ::fork();
      REQUIRE(pid >= 0);
      if (pid == 0) {
        ::setsid();
        ::alarm(60);  // if this test is killed
        ::execl(burn.c_str(), "burn_cpu", nullptr);
        ::_exit(127);
      }
      pids_.push_back(pid);
    }
  }
  ~Hogs() {
    for (const pid_t pid : pids_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  Hogs(const Hogs&) = delete;
  Hogs& operator=(const Hogs&) = delete;

 private:
  std::vector<pid_t> pids_;
};

SandboxPolicy short_policy(const char* profile) {
  SandboxPolicy policy = policy_of(profile);
  policy.wall_clock = wall;
  policy.grace = milliseconds(300);
  return policy;
}

// One run, born on one CPU together with so many hogs.
SandboxResult run_among(int hogs, const Sandbox& sandbox, const SandboxPolicy& policy,
                        const Argv& argv) {
  std::unique_ptr<Run> live;
  std::optional<Hogs> others;
  {
    const OnOneCpu pinned;
    others.emplace(hogs);
    live = sandbox.start(policy, argv, "", "leaf", RunOptions{}).value();
  }
  drive_all({live.get()});
  return live->take_result();
}

}  // namespace

TEST_CASE("a spinner that others kept from the CPU is host_overloaded at its deadline") {
  const Sandbox sandbox = Sandbox::open({}).value();
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    const SandboxResult result =
        run_among(5, sandbox, short_policy(profile), {program("burn_cpu")});
    CHECK(result.cause == Cause::host_overloaded);
    CHECK(result.timed_out);
    CHECK(result.killed);
    CHECK(result.signal == SIGTERM);
    CHECK(result.cpu_user_us + result.cpu_system_us < 750'000);
  }
}

TEST_CASE("with a cgroup the leaf's own pressure says that a run was kept from the CPU") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  const Sandbox sandbox = Sandbox::open({.cgroup_base = base.path(), .host_uids = {}}).value();
  CHECK(run_among(5, sandbox, short_policy("DEFAULT"), {program("burn_cpu")}).cause ==
        Cause::host_overloaded);
  // No single process of this one lives long enough to have waited for long.
  const std::string shell = "while :; do " + program("burn_cpu") + " 0.01; done";
  CHECK(run_among(5, sandbox, short_policy("DEFAULT"), {"sh", "-c", shell}).cause ==
        Cause::host_overloaded);
  CHECK(run_among(5, sandbox, short_policy("DEFAULT"), {"sleep", "1000"}).cause ==
        Cause::wall_clock);
}

TEST_CASE("a spinner that lowers its own priority is wall_clock, however long it waits for a CPU") {
  const Sandbox sandbox = Sandbox::open({}).value();
  const Argv nice = {"nice", "-n", "19", program("burn_cpu")};
  const Argv idle = {"chrt", "--idle", "0", program("burn_cpu")};
  for (const Argv& argv : {nice, idle}) {
    INFO(argv.front());
    CHECK(run_among(5, sandbox, short_policy("DEFAULT"), argv).cause == Cause::wall_clock);
  }
}

TEST_CASE("a run that sleeps among spinners is wall_clock: it did not want the CPU") {
  const Sandbox sandbox = Sandbox::open({}).value();
  const SandboxResult result = run_among(5, sandbox, short_policy("DEFAULT"), {"sleep", "1000"});
  CHECK(result.cause == Cause::wall_clock);
  CHECK(result.timed_out);
}

TEST_CASE("a spinner that has a CPU is wall_clock") {
  const SandboxResult result = run(short_policy("DEFAULT"), {program("burn_cpu")});
  const bool had_cpu = result.cpu_user_us + result.cpu_system_us >= 800'000;  // of 1.5 s
  NEEDS(had_cpu, host_is_busy);
  CHECK(result.cause == Cause::wall_clock);
}

TEST_CASE("spinners of one run that wait for each other are wall_clock") {
  // Method: on one CPU, each in a session of its own, so that each waits for nearly all of the
  // time.
  const TestCgroup base;
  const std::string loop =
      "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do setsid " +
      program("burn_cpu") + " & done; wait";
  for (const bool with_leaf : {false, true}) {
    if (with_leaf && !base) continue;
    INFO((with_leaf ? "with a leaf" : "without a leaf"));
    const Sandbox sandbox =
        Sandbox::open({.cgroup_base = with_leaf ? base.path() : "", .host_uids = {}}).value();
    const SandboxResult result = run_among(0, sandbox, short_policy("DEFAULT"), {"sh", "-c", loop});
    const bool had_cpu = result.cpu_user_us + result.cpu_system_us >= 800'000;
    NEEDS(had_cpu, host_is_busy);
    CHECK(result.cause == Cause::wall_clock);
  }
}
