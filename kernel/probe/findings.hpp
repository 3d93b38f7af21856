#pragma once
// Findings: what about this host keeps a profile from being enforced as it is written, each with
// its cause and the way to mend it. Pure. rfcs/0005 has the list.

#include <string>
#include <string_view>
#include <vector>

#include "kernel/confine/cgroup_search.hpp"
#include "kernel/confine/host.hpp"
#include "kernel/policy/policy.hpp"
#include "kernel/probe/host_readings.hpp"

namespace paddock::kernel {

enum class Severity {
  blocks,   // the profiles are refused here
  weakens,  // they run with less than they ask for
  note,     // nothing is lost; worth knowing
};
std::string_view name_of(Severity severity);

struct Finding {
  std::string name;  // stable: "user_namespaces_refused"
  Severity severity = Severity::note;
  std::vector<std::string> profiles;  // that it hits; empty: none in particular
  std::string cause;
  std::string fix;

  bool operator==(const Finding&) const = default;
};

std::vector<Finding> find_gaps(const HostReadings& readings, const HostFacts& host,
                               const CgroupSearch& cgroup,
                               const std::vector<SandboxPolicy>& policies);

}  // namespace paddock::kernel
