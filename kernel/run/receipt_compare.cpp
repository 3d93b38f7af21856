// compare(): is what was seen what was planned?

#include <fmt/format.h>

#include <algorithm>

#include "kernel/confine/landlock.hpp"
#include "kernel/confine/rlimits.hpp"
#include "kernel/run/receipt.hpp"

namespace paddock::kernel {
namespace {

class Differences {
 public:
  void check(std::string_view what, std::string_view planned, std::string_view seen) {
    if (planned != seen) add(fmt::format("{} is {}, planned {}", what, seen, planned));
  }
  void add(std::string difference) { found_.push_back(std::move(difference)); }
  std::vector<std::string> take() { return std::move(found_); }

 private:
  std::vector<std::string> found_;
};

void compare_rlimits(const Plan& plan, const Receipt& receipt, Differences& differences) {
  for (const Rlimit& limit : plan.launch.rlimits) {
    const auto row = std::find_if(rlimit_rows.begin(), rlimit_rows.end(),
                                  [&](const RlimitRow& r) { return r.resource == limit.resource; });
    const auto seen = receipt.rlimits.find(row->name);
    differences.check(row->name, std::to_string(limit.value),
                      seen == receipt.rlimits.end() ? "not seen" : seen->second);
  }
}

void compare_identity(const Plan& plan, const Receipt& receipt, Differences& differences) {
  if (!plan.launch.host_uid) return;
  const std::string id = std::to_string(*plan.launch.host_uid);
  differences.check("the host uid", id, std::to_string(receipt.host_uid));
  differences.check("the host gid", id, std::to_string(receipt.host_gid));
  differences.check("the list of groups", "", receipt.groups);
}

void compare_privileges(const Plan& plan, const Receipt& receipt, Differences& differences) {
  constexpr const char* none = "0000000000000000";
  if (!receipt.no_new_privs) differences.add("no_new_privs is not set");
  differences.check("the set of capabilities", none, receipt.capabilities);
  // An ordinary user's process outside a user namespace of its own has no right to empty it.
  const bool has_user_namespace = std::find(plan.new_namespaces.begin(), plan.new_namespaces.end(),
                                            "user") != plan.new_namespaces.end();
  const bool can_be_dropped = plan.launch.host_uid || has_user_namespace;
  if (can_be_dropped)
    differences.check("the bounding set of capabilities", none, receipt.bounding_set);
  if (plan.launch.user_namespaces_closed && (receipt.self_seen & self_seen_no_user_namespace) == 0)
    differences.add("the agent can make a user namespace");
}

// What a process passes on to the program besides its confinement.
void compare_state(const Plan& plan, const Receipt& receipt, Differences& differences) {
  differences.check("the list of inherited descriptors", "0 1 2",
                    fmt::format("{}", fmt::join(receipt.descriptors, " ")));
  if (receipt.leads_session != plan.launch.new_session)
    differences.add(plan.launch.new_session ? "the agent does not lead a session of its own"
                                            : "the agent leads a session of its own");
  differences.check("the umask", "0022", receipt.umask);
  differences.check("the set of blocked or ignored signals", "0000000000000000",
                    receipt.signals_held_back);
  differences.check("oom_score_adj", oom_score_adj, receipt.oom_score_adj);
  if (receipt.shares_session_keyring)
    differences.add("the agent has the supervisor's session keyring, or its zygote's");
}

// A warm run has nothing of its zygote's.
void compare_with_zygote(const Plan& plan, const Receipt& receipt, Differences& differences) {
  for (const auto& [name, zygotes] : plan.not_namespaces) {
    const auto seen = receipt.namespaces.find(name);
    if (seen == receipt.namespaces.end() || seen->second == zygotes)
      differences.add(fmt::format("the {} namespace is the zygote's", name));
  }
  for (const auto& [path, zygotes] : plan.not_devices) {
    const auto seen = receipt.devices.find(path);
    if (seen == receipt.devices.end() || seen->second == zygotes)
      differences.add(fmt::format("the mount at '{}' is the zygote's", path));
  }
}

// The launch chain itself.
void compare_launcher(const Plan& plan, const Receipt& receipt, Differences& differences) {
  for (const std::string& process : receipt.traceable)
    differences.add("the agent's user can trace its " + process);
  if ((receipt.self_seen & self_seen_parent_death_signal) == 0)
    differences.add("the agent has no parent-death signal");
  differences.check("the program at the gate", plan.program_at_gate, receipt.program);
}

void compare_landlock(const Plan& plan, const Receipt& receipt, Differences& differences) {
  const std::uint32_t missing =
      expected_landlock_seen(plan.launch.landlock) & ~receipt.landlock_seen;
  if ((missing & landlock_seen_file) != 0)
    differences.add("Landlock did not refuse to open a file that no rule allows");
  if ((missing & landlock_seen_signal) != 0)
    differences.add("Landlock did not refuse a signal to a process outside");
}

void compare_cgroup(const Plan& plan, const Receipt& receipt, Differences& differences) {
  if (plan.cgroup_leaf.empty()) return;
  differences.check("the cgroup", plan.cgroup_leaf, receipt.cgroup);
  for (const auto& [knob, value] : plan.cgroup_knobs) {
    const auto seen = receipt.cgroup_knobs.find(knob);
    differences.check(knob, value, seen == receipt.cgroup_knobs.end() ? "not seen" : seen->second);
  }
}

}  // namespace

std::vector<std::string> compare(const Plan& plan, const Receipt& receipt) {
  Differences differences;
  compare_rlimits(plan, receipt, differences);
  differences.check("the list of new namespaces",
                    fmt::format("{}", fmt::join(plan.new_namespaces, " ")),
                    fmt::format("{}", fmt::join(receipt.new_namespaces, " ")));
  for (std::string& difference :
       mount_differences(plan.mounts, receipt.mounts, receipt.mounts_on_host))
    differences.add(std::move(difference));
  compare_with_zygote(plan, receipt, differences);
  compare_identity(plan, receipt, differences);
  compare_privileges(plan, receipt, differences);
  compare_landlock(plan, receipt, differences);
  const unsigned filters =
      (plan.launch.filter.empty() ? 0u : 1u) + (plan.launch.watch_sockets ? 1u : 0u);
  differences.check("the number of system call filters", std::to_string(filters),
                    std::to_string(receipt.filters));
  compare_state(plan, receipt, differences);
  compare_cgroup(plan, receipt, differences);
  compare_launcher(plan, receipt, differences);
  return differences.take();
}

}  // namespace paddock::kernel
