#pragma once
// Which controls of a policy this host does not have, and what they are called in a run's permanent
// record. The whole list, with what each one means, is in rfcs/0004.

#include <string>
#include <vector>

#include "kernel/base/error.hpp"
#include "kernel/confine/cgroup_search.hpp"
#include "kernel/confine/host.hpp"
#include "kernel/policy/policy.hpp"

namespace paddock::kernel {

struct MissingControl {
  std::string name;       // "NO-MEMORY-CEILING(cgroup)"
  bool required = false;  // the policy does not go without it
  std::string cause;      // for people: why it is missing here, and what would bring it

  bool operator==(const MissingControl&) const = default;
};

// Pure. `cgroup`: where runs get their cgroups, if anywhere.
std::vector<MissingControl> missing_controls(const SandboxPolicy& policy, const HostFacts& host,
                                             const CgroupSearch& cgroup);

// The names for the record, or sandbox_not_available, naming each missing control that the policy
// requires. allow_degraded turns the refusal into a record. Pure.
Result<std::vector<std::string>> record_or_refuse(const SandboxPolicy& policy,
                                                  const std::vector<MissingControl>& missing);

}  // namespace paddock::kernel
