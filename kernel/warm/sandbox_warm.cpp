// Zygotes and their forks, started by a Sandbox.

#include <sys/socket.h>

#include "kernel/run/sandbox.hpp"
#include "kernel/warm/warm_plan.hpp"

namespace paddock::kernel {

Result<StartedZygote> Sandbox::start_zygote(const SandboxPolicy& policy,
                                            const ZygoteProgram& program,
                                            const std::string& name) const {
  if (!is_run_name(name.c_str()))
    return fail(ErrorCode::invalid_request, "'" + name + "' cannot be the name of a zygote");
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("socketpair");
  StartedZygote zygote;
  zygote.line.socket = Fd(ends[0]);
  zygote.line.programs = program.programs;
  const Fd theirs(ends[1]);
  RunIdentity identity{
      .name = name, .host_uid = std::nullopt, .workspace = "", .cwd = "", .channel = true};
  RunResources resources;
  if (host_.uid == 0) {
    resources.host_uid = TRY(HostUidLease::take(host_uids_));
    identity.host_uid = zygote.line.host_uid = resources.host_uid->uid();
  }
  const Plan plan = TRY(make_zygote_plan(policy, program, warm_library_, host_, identity));
  RunOptions options;
  options.stdin_bytes = input_of_zygote(program);
  options.channel = theirs.get();
  zygote.run = TRY(Run::start(plan, launcher_.get(), std::move(resources), std::move(options)));
  return zygote;
}

Result<std::unique_ptr<Run>> Sandbox::start_warm(const ZygoteLine& zygote,
                                                 const SandboxPolicy& policy,
                                                 const std::vector<std::string>& argv,
                                                 const std::string& name,
                                                 RunOptions run_options) const {
  if (!is_run_name(name.c_str()))
    return fail(ErrorCode::invalid_request, "'" + name + "' cannot be the name of a run");
  if (std::string why = why_not_fork(zygote, policy); !why.empty())
    return fail(ErrorCode::invalid_request, std::move(why));
  RunIdentity identity{.name = name,
                       .host_uid = zygote.host_uid,
                       .workspace = "",
                       .cwd = "",
                       .channel = run_options.channel >= 0,
                       .policy_hash = run_options.policy_hash};
  if (uses_cgroup(policy)) identity.cgroup = cgroup_of(name);
  Plan made = TRY(plan(policy, argv, identity));
  make_warm(policy, host_, zygote, made);
  sweep_again();
  RunResources resources;
  resources.host_memory = host_memory_;
  if (uses_cgroup(policy))
    resources.cgroup = TRY(CgroupLeaf::create(*cgroup_.base, name, policy.cgroup));
  return Run::start_warm(made, zygote, std::move(resources), std::move(run_options));
}

}  // namespace paddock::kernel
