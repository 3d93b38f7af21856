#include "kernel/run/sandbox.hpp"

#include "kernel/confine/launcher.hpp"

namespace paddock::kernel {
namespace {

// A control of the cgroup that is missing: refused if the policy requires it, unless the request
// said allow_degraded; recorded in both that case and the "if delegated" one.
Result<std::vector<std::string>> missing_or_refused(const SandboxPolicy& policy,
                                                    const std::optional<CgroupBase>& base) {
  std::vector<std::string> missing = missing_controls(policy.cgroup, base);
  if (missing.empty() || policy.cgroup.use != CgroupUse::required || policy.allow_degraded)
    return missing;
  std::string names;
  for (const std::string& name : missing) names += (names.empty() ? "" : ", ") + name;
  return fail(ErrorCode::sandbox_not_available,
              "profile '" + policy.profile + "' requires cgroup v2 controls that this host does " +
                  "not delegate: " + names);
}

}  // namespace

Result<Sandbox> Sandbox::open(const SandboxOptions& options) {
  Fd launcher = TRY(open_launcher());
  std::optional<CgroupBase> base;
  if (!options.cgroup_base.empty()) base = TRY(prepare_cgroup_base(options.cgroup_base));
  return Sandbox(detect_host(), std::move(launcher), std::move(base), options.host_uids);
}

Result<Plan> Sandbox::plan(const SandboxPolicy& policy, const std::vector<std::string>& argv,
                           const RunIdentity& identity) const {
  std::vector<std::string> missing = TRY(missing_or_refused(policy, cgroup_base_));
  Plan plan = TRY(make_plan(policy, argv, host_, identity));
  plan.degraded = std::move(missing);
  return plan;
}

Result<Plan> Sandbox::preview(const SandboxPolicy& policy, const std::vector<std::string>& argv,
                              const std::string& cwd) const {
  RunIdentity identity{.host_uid = std::nullopt, .workspace = "/tmp/paddock-XXXXXX", .cwd = cwd};
  if (host_.uid == 0) identity.host_uid = host_uids_.first;
  return plan(policy, argv, identity);
}

Result<std::unique_ptr<Run>> Sandbox::start(const SandboxPolicy& policy,
                                            const std::vector<std::string>& argv,
                                            const std::string& cwd, const std::string& name,
                                            RunOptions run_options) const {
  RunResources resources;
  RunIdentity identity{.host_uid = std::nullopt, .workspace = "", .cwd = cwd};
  if (host_.uid == 0) {
    resources.host_uid = TRY(HostUidLease::take(host_uids_));
    identity.host_uid = resources.host_uid->uid();
  }
  if (!policy.use_bubblewrap) {
    resources.workspace = TRY(Workspace::create(identity.host_uid));
    identity.workspace = resources.workspace->path();
  }
  const Plan made = TRY(plan(policy, argv, identity));
  if (cgroup_base_ && policy.cgroup.use != CgroupUse::never)
    resources.cgroup = TRY(CgroupLeaf::create(*cgroup_base_, name, policy.cgroup));
  return Run::start(made, launcher_.get(), std::move(resources), std::move(run_options));
}

}  // namespace paddock::kernel
