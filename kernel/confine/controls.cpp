#include "kernel/confine/controls.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace paddock::kernel {
namespace {

// The first Landlock that can keep a domain from signalling processes outside it.
constexpr unsigned landlock_abi_signal_scope = 6;

bool has_controller(const std::optional<CgroupBase>& base, const std::string& name) {
  return base && std::find(base->controllers.begin(), base->controllers.end(), name) !=
                     base->controllers.end();
}

void add_cgroup(const CgroupLimits& limits, const CgroupSearch& cgroup,
                std::vector<MissingControl>& missing) {
  if (limits.use == CgroupUse::never) return;
  const bool required = limits.use == CgroupUse::required;
  const std::string cause = cgroup.problem.empty() ? "no cgroup v2 is used here" : cgroup.problem;
  const auto need = [&](bool asked, const char* controller, const char* name) {
    if (asked && !has_controller(cgroup.base, controller))
      missing.push_back({name, required, cause});
  };
  need(limits.memory_max.has_value(), "memory", "NO-MEMORY-CEILING(cgroup)");
  need(limits.pids_max.has_value(), "pids", "NO-PIDS-CEILING(cgroup)");
  need(limits.cpu_max.has_value(), "cpu", "NO-CPU-CEILING(cgroup)");
  if (required && !cgroup.base && missing.empty())
    missing.push_back({"NO-CGROUP(cgroup)", true, cause});
}

void add_landlock(const SandboxPolicy& policy, const HostFacts& host,
                  std::vector<MissingControl>& missing) {
  if (policy.landlock.use == LandlockUse::never) return;
  if (host.landlock_abi < policy.landlock.abi) {
    missing.push_back({"NO-LANDLOCK(kernel)", policy.landlock.use == LandlockUse::required,
                       host.landlock_abi == 0
                           ? "this kernel has no Landlock, or its lsm= list leaves it out"
                           : fmt::format("this kernel has Landlock ABI {}, and {} is asked for",
                                         host.landlock_abi, policy.landlock.abi)});
  } else if (host.landlock_abi < landlock_abi_signal_scope && !policy.use_bubblewrap) {
    // In a PID namespace of its own there is nobody else to signal.
    missing.push_back(
        {"NO-SIGNAL-SCOPE(landlock)", false,
         fmt::format("this kernel has Landlock ABI {}, and signals are scoped from ABI {} on",
                     host.landlock_abi, landlock_abi_signal_scope)});
  }
}

// "A, B (why), C (why else)": controls that are missing for one reason share it.
std::string required_in(const std::vector<MissingControl>& missing) {
  std::string text;
  const std::string* cause = nullptr;
  for (const MissingControl& control : missing) {
    if (!control.required) continue;
    if (cause != nullptr && *cause != control.cause) text += fmt::format(" ({})", *cause);
    text += (cause == nullptr ? "" : ", ") + control.name;
    cause = &control.cause;
  }
  if (cause != nullptr) text += fmt::format(" ({})", *cause);
  return text;
}

}  // namespace

std::vector<MissingControl> missing_controls(const SandboxPolicy& policy, const HostFacts& host,
                                             const CgroupSearch& cgroup) {
  std::vector<MissingControl> missing;
  add_cgroup(policy.cgroup, cgroup, missing);
  add_landlock(policy, host, missing);
  if (policy.seccomp != SeccompUse::off && !host.seccomp)
    missing.push_back({"NO-SYSCALL-FILTER(seccomp)", true,
                       "this kernel has no seccomp filters (CONFIG_SECCOMP_FILTER)"});
  if (policy.own_host_uid && host.uid != 0)
    missing.push_back({"NO-OWN-HOST-UID(root)", true,
                       "only a supervisor started as root can give a run a uid of its own"});
  return missing;
}

Result<std::vector<std::string>> record_or_refuse(const SandboxPolicy& policy,
                                                  const std::vector<MissingControl>& missing) {
  std::vector<std::string> names;
  for (const MissingControl& control : missing) names.push_back(control.name);
  const std::string refused = policy.allow_degraded ? "" : required_in(missing);
  if (refused.empty()) return names;
  return fail(ErrorCode::sandbox_not_available,
              fmt::format("profile '{}' requires what this host does not give: {}", policy.profile,
                          refused));
}

}  // namespace paddock::kernel
