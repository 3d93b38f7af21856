#include "kernel/probe/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "kernel/confine/controls.hpp"
#include "kernel/confine/landlock.hpp"

namespace paddock::kernel {
namespace {

// CLONE_INTO_CGROUP, cgroup.kill and Landlock's first ABI are older; 5.14 has all that is needed.
constexpr int oldest_major = 5;
constexpr int oldest_minor = 14;

struct CauseAndFix {
  std::string cause;
  std::string fix;
};

// As a command, with the file that keeps it across a restart.
std::string set_to(const std::string& name, const std::string& value) {
  return fmt::format("sysctl -w {0}={1}, and '{0} = {1}' in /etc/sysctl.d/paddock.conf", name,
                     value);
}

class Search {
 public:
  Search(const HostReadings& readings, const HostFacts& host, const CgroupSearch& cgroup,
         const std::vector<SandboxPolicy>& policies)
      : readings_(readings), host_(host), cgroup_(cgroup), policies_(policies) {}

  std::vector<Finding> search() && {
    look_at_kernel();
    look_at_user_namespaces();
    look_at_bubblewrap();
    look_at_cgroups();
    look_at_landlock();
    look_at_seccomp();
    look_at_user();
    look_at_core_dumps();
    look_at_tracing();
    look_at_proc();
    look_at_terminals();
    return std::move(findings_);
  }

 private:
  template <class Hits>
  std::vector<std::string> profiles(Hits hits) const {
    std::vector<std::string> names;
    for (const SandboxPolicy& policy : policies_)
      if (hits(policy)) names.push_back(policy.profile);
    return names;
  }

  void add(std::string name, Severity severity, std::vector<std::string> profiles,
           CauseAndFix text) {
    findings_.push_back({std::move(name), severity, std::move(profiles), std::move(text.cause),
                         std::move(text.fix)});
  }

  // Only where it hits a profile.
  void add_if_hit(std::string name, Severity severity, std::vector<std::string> profiles,
                  CauseAndFix text) {
    if (!profiles.empty()) add(std::move(name), severity, std::move(profiles), std::move(text));
  }

  static bool always(const SandboxPolicy&) { return true; }
  static bool needs_user_namespace(const SandboxPolicy& policy) {
    return policy.use_bubblewrap || policy.nproc;
  }
  static bool isolates(const SandboxPolicy& policy) { return policy.use_bubblewrap; }

  void look_at_kernel() {
    int major = 0;
    int minor = 0;
    if (std::sscanf(host_.kernel_release.c_str(), "%d.%d", &major, &minor) != 2) return;
    if (major > oldest_major || (major == oldest_major && minor >= oldest_minor)) return;
    add("kernel_is_old", Severity::blocks, profiles(always),
        {fmt::format("this kernel is {}, and paddock needs {}.{}", host_.kernel_release,
                     oldest_major, oldest_minor),
         "start a newer kernel"});
  }

  CauseAndFix why_no_user_namespace() const {
    if (readings_.max_user_namespaces == 0)
      return {"user.max_user_namespaces is 0", set_to("user.max_user_namespaces", "63000")};
    if (readings_.unprivileged_userns_clone == 0)
      return {"kernel.unprivileged_userns_clone is 0: only root may make one",
              set_to("kernel.unprivileged_userns_clone", "1")};
    if (readings_.apparmor_restricts_userns == 1) return apparmor();
    if (readings_.filtered)
      return {"a system call filter is on paddock itself, as containers set one",
              "start the container with a seccomp profile that allows unshare and clone with "
              "CLONE_NEWUSER (docker and podman: --security-opt seccomp=FILE)"};
    return {host_.user_namespaces_problem, "a kernel with CONFIG_USER_NS"};
  }

  static CauseAndFix apparmor() {
    return {
        "kernel.apparmor_restrict_unprivileged_userns is 1: AppArmor takes the capabilities from "
        "a user namespace unless the program's AppArmor profile says 'userns,'",
        "an AppArmor profile with 'userns,' for bwrap and paddock, or " +
            set_to("kernel.apparmor_restrict_unprivileged_userns", "0")};
  }

  void look_at_user_namespaces() {
    if (!host_.user_namespaces) {
      add_if_hit("user_namespaces_refused", Severity::blocks, profiles(needs_user_namespace),
                 why_no_user_namespace());
    } else if (readings_.apparmor_restricts_userns == 1) {
      // One can be made, and may be good for nothing: the probes tell.
      add_if_hit("apparmor_restricts_user_namespaces", Severity::note,
                 profiles(needs_user_namespace), apparmor());
    }
  }

  void look_at_bubblewrap() {
    if (host_.bubblewrap.empty())
      return add_if_hit("bubblewrap_unusable", Severity::blocks, profiles(isolates),
                        {host_.bubblewrap_problem,
                         "apt-get install bubblewrap, in version 0.8.0 or later and without the "
                         "setuid bit"});
    for (const FileReading& file : readings_.bubblewrap) {
      if (file.owner == 0 && !file.others_may_write) continue;
      add_if_hit("bubblewrap_not_trusted", Severity::weakens, profiles(isolates),
                 {file.owner != 0
                      ? fmt::format("'{}' belongs to uid {}, who can replace bubblewrap", file.path,
                                    file.owner)
                      : fmt::format("others than root can write '{}', and so replace bubblewrap",
                                    file.path),
                  fmt::format("chown root {0} && chmod go-w {0}; then install bubblewrap anew",
                              file.path)});
    }
    if (readings_.bubblewrap_follows_links == true)
      add_if_hit("bubblewrap_follows_planted_links", Severity::note, profiles(isolates),
                 {"this bubblewrap makes mount points behind a symbolic link that a run planted "
                  "(CVE-2026-87766); paddock never mounts below what a run can write",
                  "bubblewrap 0.12.0 or later, for whatever else uses it"});
  }

  // Those that miss something of it, and require it or do not.
  std::vector<std::string> profiles_without_cgroup(bool required) const {
    std::vector<std::string> hit;
    for (const SandboxPolicy& policy : policies_) {
      const auto missing = missing_controls(policy, host_, cgroup_);
      if (std::any_of(missing.begin(), missing.end(), [&](const MissingControl& control) {
            return control.name.ends_with("(cgroup)") && control.required == required;
          }))
        hit.push_back(policy.profile);
    }
    return hit;
  }

  void look_at_cgroups() {
    const CauseAndFix text{
        cgroup_.problem.empty() ? "no cgroup v2 is used" : cgroup_.problem,
        fmt::format("{}; for the daemon: Delegate=yes in its unit, as paddockd.service has it",
                    how_to_be_delegated)};
    add_if_hit("cgroup_not_delegated", Severity::blocks, profiles_without_cgroup(true), text);
    add_if_hit("cgroup_not_delegated", Severity::weakens, profiles_without_cgroup(false), text);
    if (!cgroup_.base || !readings_.swap) return;
    const auto& absent = cgroup_.base->absent_knobs;
    if (std::find(absent.begin(), absent.end(), "memory.swap.max") == absent.end()) return;
    add_if_hit("swap_is_not_accounted", Severity::weakens,
               profiles([](const SandboxPolicy& policy) {
                 return policy.cgroup.use != CgroupUse::never && policy.cgroup.memory_max;
               }),
               {"this kernel does not count swap per cgroup: a run can swap beyond memory_max",
                "boot with swapaccount=1, or without swap"});
  }

  void look_at_landlock() {
    const auto wants = [](const SandboxPolicy& policy) {
      return policy.landlock.use != LandlockUse::never;
    };
    const auto lacks = [&](const SandboxPolicy& policy) {
      return wants(policy) && host_.landlock_abi < policy.landlock.abi;
    };
    const bool required =
        std::any_of(policies_.begin(), policies_.end(), [&](const SandboxPolicy& policy) {
          return lacks(policy) && policy.landlock.use == LandlockUse::required;
        });
    const Severity severity = required ? Severity::blocks : Severity::weakens;
    if (host_.landlock_abi == 0) {
      add_if_hit("landlock_absent", severity, profiles(lacks),
                 {"this kernel has no Landlock, or its lsm= list leaves it out",
                  "boot with lsm=landlock in front of what /sys/kernel/security/lsm shows (needs "
                  "Linux 5.13 with CONFIG_SECURITY_LANDLOCK)"});
      return;
    }
    add_if_hit("landlock_is_old", severity, profiles(lacks),
               {fmt::format("this kernel has Landlock ABI {}", host_.landlock_abi),
                "a newer kernel: ABI 2 came with Linux 5.19, ABI 6 with 6.12"});
    add_if_hit("signals_are_not_scoped", Severity::weakens,
               profiles([&](const SandboxPolicy& policy) {
                 return wants(policy) && !lacks(policy) && !policy.use_bubblewrap &&
                        host_.landlock_abi < landlock_abi_most;
               }),
               {fmt::format("this kernel has Landlock ABI {}, which does not keep an agent from "
                            "signalling its user's processes",
                            host_.landlock_abi),
                "Linux 6.12 or later, a profile with bubblewrap, or paddock started as root"});
  }

  void look_at_seccomp() {
    if (host_.seccomp) return;
    add_if_hit("seccomp_absent", Severity::blocks, profiles([](const SandboxPolicy& policy) {
                 return policy.seccomp != SeccompUse::off;
               }),
               {"this kernel has no system call filters", "a kernel with CONFIG_SECCOMP_FILTER"});
  }

  void look_at_user() {
    if (host_.uid == 0)
      return add("runs_as_root", Severity::note, {},
                 {"paddock is started as root: runs get uids of their own, and a fault in paddock "
                  "is worth more",
                  "if no profile needs own_host_uid: start it as an ordinary user to whom a cgroup "
                  "is delegated"});
    add_if_hit(
        "not_root", Severity::blocks,
        profiles([](const SandboxPolicy& policy) { return policy.own_host_uid; }),
        {fmt::format("paddock is started as uid {}: it cannot give a run another one", host_.uid),
         "start paddockd as root, as paddockd.service does"});
  }

  // A handler runs as root of the host and reads what the agent left in memory. RLIMIT_CORE = 1
  // stops it, which is what paddock sets for core_size = 0 (plan.cpp).
  void look_at_core_dumps() {
    if (!readings_.core_pattern.starts_with('|')) return;
    std::vector<std::string> hit =
        profiles([](const SandboxPolicy& policy) { return policy.core_size > 1; });
    const Severity severity = hit.empty() ? Severity::note : Severity::weakens;
    add("core_pattern_is_a_pipe", severity, std::move(hit),
        {fmt::format(
             "kernel.core_pattern is '{}': a helper with root's rights parses the memory of "
             "what crashes. With core_size = 0 it is not started for a run",
             readings_.core_pattern),
         "core_size = 0, or " + set_to("kernel.core_pattern", "core")});
  }

  // Landlock does it, and a uid of one's own; without both, Yama would.
  void look_at_tracing() {
    if (readings_.ptrace_scope.value_or(0) > 0 || host_.uid == 0) return;
    add_if_hit("tracing_is_not_restricted", Severity::weakens,
               profiles([&](const SandboxPolicy& policy) {
                 return !policy.use_bubblewrap && landlock_rules(policy, host_).handled_file == 0;
               }),
               {"there is no Yama, or kernel.yama.ptrace_scope is 0, and these profiles have no "
                "Landlock: an agent can read and change other processes of this user",
                "a profile with [landlock], or " + set_to("kernel.yama.ptrace_scope", "1")});
  }

  void look_at_proc() {
    if (!readings_.hidepid) return;
    add_if_hit("proc_is_hidden", Severity::weakens, profiles(isolates),
               {"/proc is mounted with hidepid: the kernel may refuse a sandbox a /proc of its own",
                "mount -o remount,hidepid=0 /proc"});
  }

  void look_at_terminals() {
    if (readings_.legacy_tiocsti != 1) return;
    add_if_hit("terminal_input_can_be_forged", Severity::weakens,
               profiles([](const SandboxPolicy& policy) {
                 return !policy.new_session && policy.seccomp == SeccompUse::off;
               }),
               {"dev.tty.legacy_tiocsti is 1, and these profiles keep the terminal: an agent can "
                "type into it",
                "new_session = true, or " + set_to("dev.tty.legacy_tiocsti", "0")});
  }

  const HostReadings& readings_;
  const HostFacts& host_;
  const CgroupSearch& cgroup_;
  const std::vector<SandboxPolicy>& policies_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::blocks:
      return "blocks";
    case Severity::weakens:
      return "weakens";
    case Severity::note:
      return "note";
  }
  return {};
}

std::vector<Finding> find_gaps(const HostReadings& readings, const HostFacts& host,
                               const CgroupSearch& cgroup,
                               const std::vector<SandboxPolicy>& policies) {
  return Search(readings, host, cgroup, policies).search();
}

}  // namespace paddock::kernel
