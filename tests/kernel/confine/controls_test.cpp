#include "kernel/confine/controls.hpp"

#include "support/catch.hpp"
#include "support/sample_host.hpp"

using namespace paddock::kernel;

namespace {

using Names = std::vector<std::string>;

CgroupSearch with_controllers(std::vector<std::string> controllers) {
  CgroupSearch cgroup;
  cgroup.base = CgroupBase{"/c", std::move(controllers)};
  return cgroup;
}

const CgroupSearch all_controllers = with_controllers({"memory", "pids", "cpu"});
const CgroupSearch no_cgroup;

HostFacts capable_host() {
  HostFacts host = merged_host();
  host.uid = 0;
  host.landlock_abi = 7;
  host.seccomp = true;
  return host;
}

// SEALED's demands: everything that can be missing, required.
SandboxPolicy demanding() {
  SandboxPolicy policy;
  policy.profile = "SEALED";
  policy.use_bubblewrap = true;
  policy.cgroup = {
      .use = CgroupUse::required, .memory_max = 1u << 20, .pids_max = 10, .cpu_max = 0.5};
  policy.landlock = {.use = LandlockUse::required, .abi = 1};
  policy.seccomp = SeccompUse::strict;
  policy.own_host_uid = true;
  return policy;
}

Names names(const std::vector<MissingControl>& missing) {
  Names names;
  for (const MissingControl& control : missing) names.push_back(control.name);
  return names;
}

Names missing_of(const CgroupLimits& limits, const CgroupSearch& cgroup) {
  SandboxPolicy policy;
  policy.cgroup = limits;
  return names(missing_controls(policy, capable_host(), cgroup));
}

}  // namespace

TEST_CASE("a host that has everything misses nothing") {
  CHECK(missing_controls(demanding(), capable_host(), all_controllers).empty());
}

TEST_CASE("without a cgroup every limit that was asked for is missing") {
  CHECK(missing_of(demanding().cgroup, no_cgroup) ==
        Names{"NO-MEMORY-CEILING(cgroup)", "NO-PIDS-CEILING(cgroup)", "NO-CPU-CEILING(cgroup)"});
}

TEST_CASE("a ceiling is missing exactly if its controller is not delegated") {
  const CgroupLimits limits = demanding().cgroup;
  CHECK(missing_of(limits, with_controllers({"pids", "cpu"})) ==
        Names{"NO-MEMORY-CEILING(cgroup)"});
  CHECK(missing_of(limits, with_controllers({"memory", "cpu"})) ==
        Names{"NO-PIDS-CEILING(cgroup)"});
  CHECK(missing_of(limits, with_controllers({"memory", "pids"})) ==
        Names{"NO-CPU-CEILING(cgroup)"});
}

TEST_CASE("a limit that nobody asked for is not missing") {
  CgroupLimits limits;
  limits.pids_max = 10;
  CHECK(missing_of(limits, no_cgroup) == Names{"NO-PIDS-CEILING(cgroup)"});
  limits.use = CgroupUse::never;
  CHECK(missing_of(limits, no_cgroup).empty());
}

TEST_CASE("a required cgroup without limits still has to be there") {
  CgroupLimits limits;
  limits.use = CgroupUse::required;
  CHECK(missing_of(limits, no_cgroup) == Names{"NO-CGROUP(cgroup)"});
  CHECK(missing_of(limits, with_controllers({})).empty());
}

TEST_CASE("Landlock is missing below the ABI that the profile names") {
  HostFacts host = capable_host();
  SandboxPolicy policy = demanding();
  policy.landlock.abi = 3;
  for (const unsigned abi : {0u, 1u, 2u}) {
    host.landlock_abi = abi;
    CHECK(names(missing_controls(policy, host, all_controllers)) == Names{"NO-LANDLOCK(kernel)"});
  }
  host.landlock_abi = 3;
  CHECK(missing_controls(policy, host, all_controllers).empty());
}

TEST_CASE(
    "without a PID namespace a Landlock that cannot scope signals is recorded, never refused") {
  HostFacts host = capable_host();
  host.landlock_abi = 5;
  SandboxPolicy policy;
  policy.landlock = {.use = LandlockUse::required, .abi = 2};
  const auto missing = missing_controls(policy, host, no_cgroup);
  CHECK(names(missing) == Names{"NO-SIGNAL-SCOPE(landlock)"});
  CHECK(record_or_refuse(policy, missing).value() == Names{"NO-SIGNAL-SCOPE(landlock)"});
  policy.use_bubblewrap = true;
  CHECK(missing_controls(policy, host, no_cgroup).empty());
}

TEST_CASE("a filter and an own host uid are missing where the host cannot give them") {
  HostFacts host = capable_host();
  host.seccomp = false;
  host.uid = 1000;
  CHECK(names(missing_controls(demanding(), host, all_controllers)) ==
        Names{"NO-SYSCALL-FILTER(seccomp)", "NO-OWN-HOST-UID(root)"});
}

TEST_CASE("a refusal names each required control that is missing, and why") {
  HostFacts host = capable_host();
  host.landlock_abi = 0;
  host.uid = 1000;
  const SandboxPolicy policy = demanding();
  CgroupSearch cgroup = with_controllers({"memory", "cpu"});
  cgroup.problem = "cgroup '/c' has no pids controller";
  const auto refused = record_or_refuse(policy, missing_controls(policy, host, cgroup));
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        Error{ErrorCode::sandbox_not_available,
              "profile 'SEALED' requires what this host does not give: NO-PIDS-CEILING(cgroup) "
              "(cgroup '/c' has no pids controller), NO-LANDLOCK(kernel) (this kernel has no "
              "Landlock, or its lsm= list leaves it out), NO-OWN-HOST-UID(root) (only a supervisor "
              "started as root can give a run a uid of its own)"});
}

TEST_CASE("allow_degraded turns the refusal into a record of every name") {
  HostFacts host = capable_host();
  host.landlock_abi = 0;
  host.uid = 1000;
  SandboxPolicy policy = demanding();
  policy.allow_degraded = true;
  CHECK(record_or_refuse(policy, missing_controls(policy, host, no_cgroup)).value() ==
        Names{"NO-MEMORY-CEILING(cgroup)", "NO-PIDS-CEILING(cgroup)", "NO-CPU-CEILING(cgroup)",
              "NO-LANDLOCK(kernel)", "NO-OWN-HOST-UID(root)"});
}
