// Profiles, plans, host facts and errors -> JSON.

#include <nlohmann/json.hpp>

#include "kernel/confine/rlimits.hpp"
#include "kernel/policy/choices.hpp"
#include "kernel/policy/units.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/json/dump.hpp"
#include "supervisor/json/or_null.hpp"

namespace paddock::supervisor {
namespace {

using ordered_json = nlohmann::ordered_json;

ordered_json seconds_or_null(const std::optional<std::chrono::milliseconds>& duration) {
  return duration ? ordered_json(kernel::seconds_in(*duration)) : ordered_json(nullptr);
}

ordered_json cgroup_object(const kernel::CgroupLimits& cgroup) {
  return {{"use", name_of(cgroup.use)},
          {"memory_max", or_null(cgroup.memory_max)},
          {"pids_max", or_null(cgroup.pids_max)},
          {"cpu_max", or_null(cgroup.cpu_max)}};
}

ordered_json landlock_limits_object(const kernel::LandlockLimits& landlock) {
  ordered_json object = {{"use", name_of(landlock.use)}};
  if (landlock.use != kernel::LandlockUse::never) object["abi"] = landlock.abi;
  return object;
}

ordered_json profile_object(const kernel::Profile& profile) {
  const kernel::ResourceLimits& limits = profile.limits;
  return {
      {"name", profile.name},
      {"description", profile.description},
      {"source", profile.source},
      {"limits",
       {{"cpu_seconds", or_null(limits.cpu_seconds)},
        {"memory_bytes", or_null(limits.memory_bytes)},
        {"fsize_bytes", or_null(limits.fsize_bytes)},
        {"nproc", or_null(limits.nproc)},
        {"nofile", or_null(limits.nofile)},
        {"core_size", limits.core_size},
        {"wall_seconds", seconds_or_null(profile.wall_clock)},
        {"grace_seconds", kernel::seconds_in(profile.grace)},
        {"output_bytes", profile.output_bytes},
        {"output_stop_bytes", or_null(profile.output_stop_bytes)}}},
      {"cgroup", cgroup_object(profile.cgroup)},
      {"isolation",
       {{"use_bubblewrap", profile.use_bubblewrap},
        {"deny_network", profile.deny_network},
        {"bind_ro", profile.bind_ro},
        {"bind_rw", profile.bind_rw},
        {"workdir", profile.workdir},
        {"tmp_bytes", profile.tmp_bytes},
        {"workspace_bytes", profile.workspace_bytes},
        {"new_session", profile.new_session},
        {"seccomp", name_of(profile.seccomp)},
        {"own_host_uid", profile.own_host_uid}}},
      {"landlock", landlock_limits_object(profile.landlock)},
      {"environment", {{"allow", profile.allow_environment}, {"set", profile.environment}}},
      {"requests",
       {{"bind_ro", profile.requests.bind_ro},
        {"bind_rw", profile.requests.bind_rw},
        {"network", profile.requests.network}}},
  };
}

ordered_json rlimits_object(const std::vector<kernel::Rlimit>& rlimits) {
  ordered_json object = ordered_json::object();
  for (const kernel::RlimitRow& row : kernel::rlimit_rows) {
    for (const kernel::Rlimit& limit : rlimits)
      if (limit.resource == row.resource) object[row.name] = limit.value;
  }
  return object;
}

std::vector<std::string> mount_lines(const std::vector<kernel::Mount>& mounts) {
  std::vector<std::string> lines;
  lines.reserve(mounts.size());
  for (const kernel::Mount& mount : mounts) lines.push_back(to_string(mount));
  return lines;
}

ordered_json landlock_object(const kernel::LandlockRules& rules) {
  ordered_json allowed = ordered_json::object();
  for (const kernel::LandlockRule& rule : rules.allowed)
    allowed[rule.path] = kernel::names_of_rights(rule.access);
  return {{"abi", rules.abi},
          {"handled", kernel::names_of_rights(rules.handled_file)},
          {"scoped", kernel::names_of_scopes(rules.scoped)},
          {"allowed", std::move(allowed)}};
}

}  // namespace

std::string plan_to_json(const kernel::SandboxPolicy& policy, const kernel::Plan& plan) {
  ordered_json files = ordered_json::object();
  for (const auto& [fd, contents] : plan.files) files[std::to_string(fd)] = contents;
  return dump_line({
      {"profile", plan.profile},
      {"policy_hash", plan.policy_hash},
      {"policy", kernel::canonical_text(policy)},
      {"argv", plan.launch.argv},
      {"environment", plan.launch.environment},
      {"workdir", plan.launch.workdir},
      {"rlimits", rlimits_object(plan.launch.rlimits)},
      {"new_session", plan.launch.new_session},
      {"namespaces", plan.new_namespaces},
      {"wrapper", plan.launch.wrapper},
      {"bubblewrap_args", plan.bubblewrap},
      {"files", std::move(files)},
      {"mounts", mount_lines(plan.mounts)},
      {"seccomp_sha256", plan.filter_hash},
      {"landlock", landlock_object(plan.launch.landlock)},
      {"host_uid", or_null(plan.launch.host_uid)},
      {"cgroup", cgroup_object(plan.cgroup)},
      {"cgroup_leaf", plan.cgroup_leaf},
      {"cgroup_knobs", plan.cgroup_knobs},
      {"wall_seconds", seconds_or_null(plan.wall_clock)},
      {"grace_seconds", kernel::seconds_in(plan.grace)},
      {"output_bytes", plan.output_bytes},
      {"output_stop_bytes", or_null(plan.output_stop_bytes)},
      {"degraded", plan.degraded},
  });
}

std::string profile_to_json(const kernel::Profile& profile) {
  return dump_line(profile_object(profile));
}

std::string profiles_to_json(const std::map<std::string, kernel::Profile>& profiles) {
  ordered_json list = ordered_json::array();
  for (const auto& [name, profile] : profiles) list.push_back(profile_object(profile));
  return dump_line({{"profiles", std::move(list)}});
}

std::string host_to_json(const kernel::HostFacts& host,
                         const std::optional<kernel::CgroupBase>& cgroup_base,
                         const std::string& cgroup_problem) {
  const kernel::CgroupBase base = cgroup_base.value_or(kernel::CgroupBase{});
  return dump_line({
      {"kernel", host.kernel_release},
      {"uid", host.uid},
      {"bubblewrap", host.bubblewrap},
      {"bubblewrap_version", host.bubblewrap_version},
      {"bubblewrap_problem", host.bubblewrap_problem},
      {"landlock_abi", host.landlock_abi},
      {"seccomp", host.seccomp},
      {"user_namespaces", host.user_namespaces},
      {"user_namespaces_problem", host.user_namespaces_problem},
      {"cgroup_base", base.path},
      {"cgroup_controllers", base.controllers},
      {"cgroup_problem", cgroup_problem},
  });
}

std::string error_to_json(const kernel::Error& error,
                          const std::vector<kernel::Diagnostic>& diagnostics) {
  ordered_json object = {{"code", kernel::name_of(error.code)}, {"message", error.message}};
  if (!diagnostics.empty()) {
    ordered_json list = ordered_json::array();
    for (const kernel::Diagnostic& diagnostic : diagnostics)
      list.push_back({{"file", diagnostic.file},
                      {"line", diagnostic.line},
                      {"column", diagnostic.column},
                      {"message", diagnostic.message}});
    object["diagnostics"] = std::move(list);
  }
  return dump_line({{"error", std::move(object)}});
}

}  // namespace paddock::supervisor
