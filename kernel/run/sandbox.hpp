#pragma once
// Sandbox: what every run of one supervisor shares - the host's facts, paddock-launch, the cgroup
// base, the range of host uids - and the way from a policy to a startable run.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/confine/cgroup.hpp"
#include "kernel/confine/cgroup_search.hpp"
#include "kernel/confine/host.hpp"
#include "kernel/confine/host_uid.hpp"
#include "kernel/run/plan.hpp"
#include "kernel/run/run.hpp"
#include "kernel/warm/zygote.hpp"

namespace paddock::kernel {

// As a cgroup base: runs get no cgroup.
constexpr const char* no_cgroup_base = "none";

struct SandboxOptions {
  // An absolute path; or empty: one is looked for, which may move this process into a child of its
  // cgroup. So that is for a program that is nothing but a supervisor, and has to be asked for.
  std::string cgroup_base = no_cgroup_base;
  HostUidRange host_uids{};  // used by root only
};

class Sandbox {
 public:
  // Fails with sandbox_not_available if `cgroup_base` is named and cannot be used.
  static Result<Sandbox> open(const SandboxOptions& options);

  // The plan as it would be made, with nothing allocated for it: for --dry-run and for refusing a
  // request before it waits in a queue.
  Result<Plan> preview(const SandboxPolicy& policy, const std::vector<std::string>& argv,
                       const std::string& cwd) const;

  // Allocates the run's host uid (the owner of a writable bind if that is a uid for runs), cgroup
  // and workspace, plans it and starts it. `name` is unique among live runs; the cgroup and each
  // launcher's command line have it. Fails with invalid_request if it is not is_run_name().
  // `cwd`: where a run without bubblewrap starts; empty: its workspace.
  Result<std::unique_ptr<Run>> start(const SandboxPolicy& policy,
                                     const std::vector<std::string>& argv, const std::string& cwd,
                                     const std::string& name, RunOptions run_options) const;

  // Starts a zygote for warm runs of such a policy (zygote_key). `name` as in start(). It is ready
  // for forks when zygote_says_ready. Fails as start() does, and where why_cold names a reason.
  Result<StartedZygote> start_zygote(const SandboxPolicy& policy, const ZygoteProgram& program,
                                     const std::string& name) const;

  // As start(), but the run is a fork of a zygote that is ready and has no other live run. Fails
  // with io if the zygote is gone. A run that ends without started() has run nothing: it can be
  // started again, cold, and its zygote is not to be used again.
  Result<std::unique_ptr<Run>> start_warm(const ZygoteLine& zygote, const SandboxPolicy& policy,
                                          const std::vector<std::string>& argv,
                                          const std::string& name, RunOptions run_options) const;

  const HostFacts& host() const { return host_; }
  const CgroupSearch& cgroup() const { return cgroup_; }
  bool uses_cgroup(const SandboxPolicy& policy) const;  // its runs get a leaf
  const HostUidRange& host_uids() const { return host_uids_; }

 private:
  Sandbox(HostFacts host, Fd launcher, std::string warm_library, CgroupSearch cgroup,
          HostUidRange host_uids)
      : host_(std::move(host)),
        launcher_(std::move(launcher)),
        warm_library_(std::move(warm_library)),
        cgroup_(std::move(cgroup)),
        host_uids_(host_uids) {}

  std::string cgroup_of(const std::string& name) const;
  Result<std::optional<uid_t>> shared_uid(const SandboxPolicy& policy) const;
  Result<uid_t> owner_of_workspace(const std::string& path) const;
  Result<Plan> plan(const SandboxPolicy& policy, const std::vector<std::string>& argv,
                    const RunIdentity& identity) const;

  void sweep_again() const;

  HostFacts host_;
  Fd launcher_;
  std::string warm_library_;  // the bytes of paddock-warm.so
  CgroupSearch cgroup_;
  mutable Clock::time_point swept_at_ = Clock::now();
  std::shared_ptr<HostMemory> host_memory_ = std::make_shared<HostMemory>();  // of all its runs
  HostUidRange host_uids_;
};

}  // namespace paddock::kernel
