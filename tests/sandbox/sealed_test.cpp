// SEALED: everything or nothing.

#include "kernel/confine/controls.hpp"
#include "sandbox/test_cgroup.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

TEST_CASE("SEALED is refused, with each missing control named, where the host lacks one",
          "[cgroup]") {
  const Sandbox sandbox = Sandbox::open({.cgroup_base = "none"}).value();
  const SandboxPolicy policy = policy_of("SEALED");
  const auto refused = sandbox.start(policy, {"true"}, "", "run", RunOptions{});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::sandbox_not_available);
  for (const char* name :
       {"NO-MEMORY-CEILING(cgroup)", "NO-PIDS-CEILING(cgroup)", "NO-CPU-CEILING(cgroup)"})
    CHECK(refused.error().message.find(name) != std::string::npos);
  CHECK((refused.error().message.find("NO-OWN-HOST-UID(root)") != std::string::npos) == !is_root());
}

TEST_CASE("SEALED runs with every control where the host has them", "[cgroup]") {
  NEEDS(is_root(), needs_root);
  const TestCgroup base;
  NEEDS(base, no_cgroup2);
  NEEDS(base.has_controllers(), no_controllers);
  const SandboxResult result = run_in(base, policy_of("SEALED"), {"true"}).result;
  check_has_sealed(result);
  CHECK(result.receipt->filters == 1);
}

TEST_CASE("SEALED that may be degraded runs, and its record names what it went without") {
  SandboxPolicy policy = policy_of("SEALED");
  policy.allow_degraded = true;
  const SandboxResult result = run(policy, {"true"});
  CHECK(result.cause == Cause::exited);
  std::vector<std::string> expected{"NO-MEMORY-CEILING(cgroup)", "NO-PIDS-CEILING(cgroup)",
                                    "NO-CPU-CEILING(cgroup)"};
  if (!is_root()) expected.emplace_back("NO-OWN-HOST-UID(root)");
  CHECK(result.degraded == expected);
}
