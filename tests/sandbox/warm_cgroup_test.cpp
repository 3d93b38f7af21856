// Warm runs in leaves of a cgroup. The limits need controllers: tests/vm has a machine that does.

#include "kernel/run/run_sandboxed.hpp"
#include "sandbox/test_cgroup.hpp"
#include "sandbox/warm_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

SandboxPolicy only_cgroup() {
  SandboxPolicy policy = policy_of("STRICT");
  policy.memory_bytes = std::nullopt;
  policy.nproc = std::nullopt;
  policy.cgroup = {.use = CgroupUse::required,
                   .memory_max = std::nullopt,
                   .pids_max = std::nullopt,
                   .cpu_max = std::nullopt};
  return policy;
}

}  // namespace

TEST_CASE("a warm run is in its leaf, which is gone after it, and its zygote is in none",
          "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  SandboxPolicy policy = policy_of("STRICT");
  WarmPython python(policy, {}, {}, base.path());
  CHECK_FALSE(base.has_children());
  for (int i = 0; i < 3; ++i) {
    const auto run = python.start("print(open('/proc/self/cgroup').read())");
    CHECK(base.has_children());
    drive(*run);
    const SandboxResult result = run->take_result();
    CHECK(result.stdout.find("0::/\n") != std::string::npos);  // as from a namespace of its own
    REQUIRE(result.receipt);
    CHECK(result.receipt->cgroup == run->plan().cgroup_leaf);
    CHECK_FALSE(result.receipt->cgroup.empty());
  }
  CHECK_FALSE(base.has_children());
}

TEST_CASE("a warm run that is killed takes all that is in its leaf along", "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  WarmPython python(policy_of("STRICT"), {}, {}, base.path());
  const std::string marker = make_marker();
  auto run = python.start(
      "import subprocess\nfor i in range(3):\n  subprocess.Popen(['sh', '-c', 'sleep 60; : " +
      marker + "'], start_new_session=True)\nwhile True: pass");
  drive_until({run.get()}, [&] { return processes_with(marker).size() >= 3; });
  REQUIRE(run->freeze());
  run->kill();
  drive(*run);
  CHECK_FALSE(run->take_result().survivors_unproved);
  CHECK(processes_with(marker).empty());
  run.reset();  // and the leaf with it
  CHECK_FALSE(base.has_children());
}

TEST_CASE("a warm run that passes memory_max or pids_max is held, and its zygote goes on",
          "[cgroup]") {
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  SandboxPolicy policy = only_cgroup();
  policy.cgroup.memory_max = 64 * mib;
  policy.cgroup.pids_max = 8;
  WarmPython python(policy, {}, {}, base.path());
  const SandboxResult hog = python.run("b = bytearray(200 << 20)");
  CHECK(hog.cause == Cause::memory_limit);
  CHECK(hog.killed);
  CHECK(python
            .run("import os, time\nn = 0\ntry:\n  while n < 99:\n    if os.fork() == 0: "
                 "time.sleep(9)\n    n += 1\n"
                 "except BlockingIOError: print(n < 8)")
            .stdout == "True\n");
  CHECK(python.run("print('next')").stdout == "next\n");
  CHECK_FALSE(python.zygote().finished());
}

TEST_CASE("a fork has SEALED with every control where the host has them", "[cgroup]") {
  NEEDS(is_root(), needs_root);
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  WarmPython python(policy_of("SEALED"), {}, {}, base.path());
  const SandboxResult result = python.run("print(6 * 7)");
  check_has_sealed(result);
  CHECK(result.stdout == "42\n");
}
