#include "kernel/run/sandbox.hpp"

#include <sys/stat.h>

#include <utility>

#include "kernel/confine/controls.hpp"
#include "kernel/confine/launch_wire.hpp"
#include "kernel/confine/launcher.hpp"
#include "kernel/confine/own_mounts.hpp"

namespace paddock::kernel {
namespace {

// In a plan of which nothing is started.
constexpr const char* name_to_be = "r-XXXXXXXXXXXXXXXX";

Result<CgroupSearch> open_cgroup_base(const std::string& wanted) {
  if (wanted == no_cgroup_base) return CgroupSearch{};
  if (wanted.empty()) return find_cgroup_base();
  CgroupBase base = TRY(prepare_cgroup_base(wanted));
  std::string problem = base.problem;
  return CgroupSearch{.base = std::move(base), .problem = std::move(problem)};
}

// As root: a run writes as its host uid, so that uid must be able to.
Result<void> check_writable(const std::string& path, const struct stat& info, uid_t uid) {
  const bool writable =
      info.st_uid == uid ? (info.st_mode & S_IWUSR) != 0 : (info.st_mode & S_IWOTH) != 0;
  if (writable) return {};
  return fail(ErrorCode::sandbox_policy_error,
              "bind_rw '" + path + "' belongs to uid " + std::to_string(info.st_uid) +
                  " and cannot be written by host uid " + std::to_string(uid) +
                  ", which the run has; started as root, paddock gives no run a uid of yours: " +
                  "chown the directory to " + std::to_string(uid) + ", or run as its owner");
}

}  // namespace

Result<Sandbox> Sandbox::open(const SandboxOptions& options) {
  // Keeps a descriptor from the first time on: not in the middle of a run.
  [[maybe_unused]] const auto mounts = TRY(own_mounts());
  Fd launcher = TRY(open_launcher());
  std::string warm_library = TRY(read_warm_library());
  CgroupSearch cgroup = TRY(open_cgroup_base(options.cgroup_base));
  if (cgroup.base) sweep_leaves(*cgroup.base);
  Workspace::sweep();
  return Sandbox(detect_host(), std::move(launcher), std::move(warm_library), std::move(cgroup),
                 options.host_uids);
}

// A directory that belongs to a uid of the range is a workspace that several runs use in turn: they
// all get that uid. Any other writable bind must be open to whichever uid the run gets.
Result<std::optional<uid_t>> Sandbox::shared_uid(const SandboxPolicy& policy) const {
  std::optional<uid_t> owner;
  if (!policy.workspace.empty()) owner = TRY(owner_of_workspace(policy.workspace));
  const bool has_workspace = owner.has_value();
  std::vector<std::pair<std::string, struct stat>> binds;
  for (const std::string& path : policy.bind_rw) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return fail_errno("look at bind_rw '" + path + "'");
    if (host_uids_.contains(info.st_uid) && !has_workspace) owner = info.st_uid;
    binds.emplace_back(path, info);
  }
  for (const auto& [path, info] : binds)
    TRY_VOID(check_writable(path, info, owner.value_or(host_uids_.first)));
  return owner;
}

// As root: a workspace that stays belongs to one uid of the range.
Result<uid_t> Sandbox::owner_of_workspace(const std::string& path) const {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return fail_errno("look at the workspace '" + path + "'");
  if (host_uids_.contains(info.st_uid)) return info.st_uid;
  return fail(ErrorCode::sandbox_policy_error,
              "the workspace '" + path + "' belongs to uid " + std::to_string(info.st_uid) +
                  ", which is not in the range of host uids for runs");
}

Result<Plan> Sandbox::plan(const SandboxPolicy& policy, const std::vector<std::string>& argv,
                           const RunIdentity& identity) const {
  std::vector<std::string> missing =
      TRY(record_or_refuse(policy, missing_controls(policy, host_, cgroup_)));
  Plan plan = TRY(make_plan(policy, argv, host_, identity));
  plan.degraded = std::move(missing);
  if (uses_cgroup(policy)) plan.cgroup_knobs = planned_knobs(policy.cgroup, *cgroup_.base);
  return plan;
}

bool Sandbox::uses_cgroup(const SandboxPolicy& policy) const {
  return cgroup_.base && policy.cgroup.use != CgroupUse::never;
}

// As /proc/PID/cgroup will show it.
std::string Sandbox::cgroup_of(const std::string& name) const {
  const std::string& base = cgroup_.base->proc_path;
  return (base == "/" ? "" : base) + "/" + name;
}

Result<Plan> Sandbox::preview(const SandboxPolicy& policy, const std::vector<std::string>& argv,
                              const std::string& cwd) const {
  RunIdentity identity{.name = name_to_be,
                       .host_uid = std::nullopt,
                       .workspace = "/tmp/paddock-workspace-XXXXXX",
                       .cwd = cwd};
  if (!policy.workspace.empty()) identity.workspace = policy.workspace;
  if (host_.uid == 0) identity.host_uid = TRY(shared_uid(policy)).value_or(host_uids_.first);
  if (uses_cgroup(policy)) identity.cgroup = cgroup_of(name_to_be);
  return plan(policy, argv, identity);
}

// What could not be removed at the end of its run, or was left by a sibling that has died since.
void Sandbox::sweep_again() const {
  constexpr std::chrono::minutes between{1};
  if (!cgroup_.base || Clock::now() - swept_at_ < between) return;
  swept_at_ = Clock::now();
  sweep_leaves(*cgroup_.base);
}

Result<std::unique_ptr<Run>> Sandbox::start(const SandboxPolicy& policy,
                                            const std::vector<std::string>& argv,
                                            const std::string& cwd, const std::string& name,
                                            RunOptions run_options) const {
  if (!is_run_name(name.c_str()))
    return fail(ErrorCode::invalid_request, "'" + name + "' cannot be the name of a run");
  RunResources resources;
  resources.host_memory = host_memory_;
  RunIdentity identity{.name = name,
                       .host_uid = std::nullopt,
                       .workspace = "",
                       .cwd = cwd,
                       .channel = run_options.channel >= 0,
                       .policy_hash = run_options.policy_hash};
  if (host_.uid == 0) {
    const auto shared = TRY(shared_uid(policy));
    resources.host_uid =
        shared ? TRY(HostUidLease::share(*shared)) : TRY(HostUidLease::take(host_uids_));
    identity.host_uid = resources.host_uid->uid();
  }
  if (!policy.workspace.empty()) {
    identity.workspace = policy.workspace;
  } else if (!policy.use_bubblewrap) {
    resources.workspace = TRY(Workspace::create(identity.host_uid));
    identity.workspace = resources.workspace->path();
  }
  if (uses_cgroup(policy)) identity.cgroup = cgroup_of(name);
  const Plan made = TRY(plan(policy, argv, identity));
  sweep_again();
  if (uses_cgroup(policy))
    resources.cgroup = TRY(CgroupLeaf::create(*cgroup_.base, name, policy.cgroup));
  return Run::start(made, launcher_.get(), std::move(resources), std::move(run_options));
}

}  // namespace paddock::kernel
