#include "kernel/run/plan.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "kernel/base/hash.hpp"
#include "kernel/confine/bubblewrap.hpp"
#include "kernel/confine/landlock.hpp"
#include "kernel/confine/launcher.hpp"
#include "kernel/confine/seccomp.hpp"

namespace paddock::kernel {
namespace {

bool is_confined(const SandboxPolicy& policy) {
  return policy.use_bubblewrap || policy.seccomp != SeccompUse::off ||
         policy.landlock.use != LandlockUse::never;
}

// The policy's own; and for each run that is confined at all, no better priority than it starts
// with: some users may raise theirs, and a program that spins in real time takes the host with it.
std::vector<Rlimit> rlimits_of(const SandboxPolicy& policy) {
  std::vector<Rlimit> rlimits;
  const auto add = [&](int resource, const std::optional<std::uint64_t>& value) {
    if (value) rlimits.push_back({resource, *value});
  };
  add(RLIMIT_CPU, policy.cpu_seconds);
  add(RLIMIT_AS, policy.memory_bytes);
  add(RLIMIT_FSIZE, policy.fsize_bytes);
  add(RLIMIT_NPROC, policy.nproc);
  add(RLIMIT_NOFILE, policy.nofile);
  // 1 writes no file either, since it is less than a page. But for a core_pattern that is a pipe, 0
  // is no limit, and a helper with root's rights would parse the memory of the agent; 1 is
  // (core(5)).
  add(RLIMIT_CORE, std::max<std::uint64_t>(policy.core_size, 1));
  if (is_confined(policy)) {
    add(RLIMIT_NICE, 0);
    add(RLIMIT_RTPRIO, 0);
  }
  return rlimits;
}

// HOME and PATH always; what the policy sets wins.
std::vector<std::string> environment_of(const SandboxPolicy& policy, const std::string& home) {
  std::map<std::string, std::string> variables = {
      {"HOME", home},
      {"LANG", lang_default},
      {"PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"},
  };
  if (policy.use_bubblewrap) {
    variables["LOGNAME"] = "agent";
    variables["SHELL"] = "/bin/sh";
    variables["USER"] = "agent";
  }
  for (const auto& [name, value] : policy.environment) variables[name] = value;
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return environment;
}

void plan_with_bubblewrap(const SandboxPolicy& policy, const HostFacts& host,
                          const RunIdentity& identity, Plan& plan) {
  BubblewrapCall call = bubblewrap_call(policy, host);
  plan.role = "guard";
  plan.launch.user_namespaces_closed = true;
  plan.binds = policy.bind_ro;
  plan.binds.insert(plan.binds.end(), policy.bind_rw.begin(), policy.bind_rw.end());
  plan.workspace = policy.workspace;
  plan.system_binds = host.etc_binds;
  plan.system_binds.insert(plan.system_binds.end(), host.system_directories.begin(),
                           host.system_directories.end());
  if (!policy.deny_network && !host.certificates.empty())
    plan.system_binds.push_back(host.certificates);
  plan.bubblewrap = std::move(call.arguments);
  plan.files = std::move(call.files);
  plan.launch.wrapper = {host.bubblewrap,
                         "--args",
                         std::to_string(fd_bubblewrap_args),
                         "--",
                         "/proc/self/fd/" + std::to_string(fd_launcher),
                         "init",
                         identity.name};
  plan.launch.workdir = policy.workdir.empty() ? sandbox_workspace : policy.workdir;
  plan.new_namespaces = {"cgroup", "ipc", "mnt", "pid", "user", "uts"};
  if (policy.deny_network) plan.new_namespaces.insert(plan.new_namespaces.begin() + 3, "net");
}

void plan_without_bubblewrap(const SandboxPolicy& policy, const RunIdentity& identity, Plan& plan) {
  plan.role = "init";
  plan.launch.workdir = !policy.workdir.empty() ? policy.workdir
                        : !identity.cwd.empty() ? identity.cwd
                                                : identity.workspace;
  // Only for NPROC, which would otherwise count all that this user runs.
  plan.launch.own_user_namespace = policy.nproc.has_value();
  if (plan.launch.own_user_namespace) plan.new_namespaces = {"user"};
}

}  // namespace

Result<Plan> make_plan(const SandboxPolicy& policy, const std::vector<std::string>& argv,
                       const HostFacts& host, const RunIdentity& identity) {
  if (argv.empty() || argv.front().empty())
    return fail(ErrorCode::invalid_request, "argv is empty: there is nothing to run");
  if (policy.deny_network && !policy.use_bubblewrap)
    return fail(ErrorCode::sandbox_policy_error, "deny_network requires use_bubblewrap");
  if (policy.use_bubblewrap && host.bubblewrap.empty())
    return fail(ErrorCode::sandbox_not_available,
                "profile '" + policy.profile + "' requires bubblewrap: " + host.bubblewrap_problem);
  if ((policy.use_bubblewrap || policy.nproc) && !host.user_namespaces)
    return fail(ErrorCode::sandbox_not_available,
                "profile '" + policy.profile +
                    "' requires a user namespace: " + host.user_namespaces_problem);

  Plan plan;
  plan.name = identity.name;
  plan.profile = policy.profile;
  plan.policy_hash = identity.policy_hash.empty() ? policy_hash(policy) : identity.policy_hash;
  plan.launch.argv = argv;
  plan.launch.environment =
      environment_of(policy, policy.use_bubblewrap ? sandbox_home : identity.workspace);
  plan.launch.rlimits = rlimits_of(policy);
  plan.launch.new_session = policy.new_session;
  plan.launch.landlock = landlock_rules(policy, host);
  if (host.seccomp) plan.launch.filter = TRY(seccomp_filter(policy.seccomp));
  if (!plan.launch.filter.empty()) plan.filter_hash = sha256_hex(plan.launch.filter);
  if (policy.use_bubblewrap) {
    plan_with_bubblewrap(policy, host, identity, plan);
  } else {
    plan_without_bubblewrap(policy, identity, plan);
  }
  plan.mounts = planned_mounts(policy, host);
  plan.program_at_gate = launcher_in_memory;
  plan.launch.host_uid = identity.host_uid;
  plan.launch.channel = identity.channel;
  plan.cgroup_leaf = identity.cgroup;
  plan.cgroup = policy.cgroup;
  plan.wall_clock = policy.wall_clock;
  plan.grace = policy.grace;
  plan.output_bytes = policy.output_bytes;
  plan.output_stop_bytes = policy.output_stop_bytes;
  return plan;
}

}  // namespace paddock::kernel
