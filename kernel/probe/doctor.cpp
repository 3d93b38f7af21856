#include "kernel/probe/doctor.hpp"

#include <algorithm>

namespace paddock::kernel {
namespace {

// The policy of a request that asks for nothing.
Result<SandboxPolicy> plain_policy(const Profile& profile) {
  Request request;
  request.profile = profile.name;
  request.argv = {"true"};
  SandboxPolicy policy = TRY(resolve(profile, request));
  TRY_VOID(check_policy(policy));
  return policy;
}

ProfileHealth look_at(const Sandbox& sandbox, const std::string& name,
                      const Result<SandboxPolicy>& policy) {
  ProfileHealth health{.profile = name, .refused = {}, .missing = {}, .probes = {}};
  if (!policy) {
    health.refused = policy.error().message;
    return health;
  }
  health.missing = missing_controls(*policy, sandbox.host(), sandbox.cgroup());
  const auto plan = sandbox.preview(*policy, {"true"}, "");
  if (!plan) health.refused = plan.error().message;
  return health;
}

// Also where it misses what it requires: a request may say allow_degraded, and the rest must hold.
bool can_be_probed(const Sandbox& sandbox, SandboxPolicy policy) {
  policy.allow_degraded = true;
  return sandbox.preview(policy, {"true"}, "").has_value();
}

void leave_out_waits(ProbeTask& task) {
  std::erase_if(task.probes, [](const Probe* probe) { return probe->run == ProbeRun::wall_clock; });
}

}  // namespace

const ProfileHealth* find_profile(const DoctorReport& report, const std::string& name) {
  const auto found =
      std::find_if(report.profiles.begin(), report.profiles.end(),
                   [&](const ProfileHealth& health) { return health.profile == name; });
  return found == report.profiles.end() ? nullptr : &*found;
}

bool ProfileHealth::is_enforced() const {
  return refused.empty() && missing.empty() && refusal(profile, probes).empty();
}

Result<DoctorReport> examine(const Sandbox& sandbox, const std::map<std::string, Profile>& profiles,
                             Thoroughness thoroughness, const DoctorReport& known) {
  DoctorReport report;
  std::vector<SandboxPolicy> policies;
  std::vector<ProbeTask> tasks;
  std::vector<std::size_t> probed;  // the place in the report of each task's profile
  for (const auto& [name, profile] : profiles) {
    const auto policy = plain_policy(profile);
    if (policy) policies.push_back(*policy);
    if (const ProfileHealth* health = find_profile(known, name)) {
      report.profiles.push_back(*health);
      continue;
    }
    report.profiles.push_back(look_at(sandbox, name, policy));
    if (!policy || !can_be_probed(sandbox, *policy)) continue;
    tasks.push_back(task_for(sandbox, *policy));
    if (thoroughness == Thoroughness::without_waits) leave_out_waits(tasks.back());
    probed.push_back(report.profiles.size() - 1);
  }
  report.bubblewrap_follows_links = known.bubblewrap_follows_links;
  if (!tasks.empty()) {
    ProbeOutcome outcome = TRY(run_probes(sandbox, tasks));
    for (std::size_t i = 0; i < tasks.size(); ++i)
      report.profiles[probed[i]].probes = std::move(outcome.reports[i]);
    if (outcome.bubblewrap_follows_links)
      report.bubblewrap_follows_links = outcome.bubblewrap_follows_links;
  }
  HostReadings readings = read_host(sandbox.host().bubblewrap);
  readings.bubblewrap_follows_links = report.bubblewrap_follows_links;
  report.findings = find_gaps(readings, sandbox.host(), sandbox.cgroup(), policies);
  return report;
}

Refusals refusals(const DoctorReport& report) {
  Refusals refused;
  for (const ProfileHealth& health : report.profiles) {
    std::string why = refusal(health.profile, health.probes);
    if (!why.empty()) refused[health.profile] = std::move(why);
  }
  return refused;
}

}  // namespace paddock::kernel
