#include "supervisor/runs/run_json.hpp"

#include <nlohmann/json.hpp>

#include "supervisor/json/bytes.hpp"

namespace paddock::supervisor {

using nlohmann::ordered_json;  // keys in the order in which people read them

namespace {

// Which of the things that it was asked to refuse Landlock was seen to refuse.
ordered_json landlock(const kernel::Receipt& receipt) {
  ordered_json refused = ordered_json::array();
  if ((receipt.landlock_seen & kernel::landlock_seen_file) != 0) refused.push_back("file");
  if ((receipt.landlock_seen & kernel::landlock_seen_signal) != 0) refused.push_back("signal");
  return {{"abi", receipt.landlock_abi}, {"refused", std::move(refused)}};
}

// Of a sandbox; without one there is nothing to say that the host's own mounts do not.
ordered_json writable_mounts(const kernel::Receipt& receipt) {
  ordered_json lines = ordered_json::array();
  if (!receipt.has_own_mounts()) return lines;
  for (const kernel::Mount& mount : receipt.mounts)
    if (mount.writable && !kernel::is_device_mount(mount)) lines.push_back(to_string(mount));
  return lines;
}

}  // namespace

void add_warmth(ordered_json& object, const RunRecord& run) {
  if (!run.warm) return;
  object["warm"] = *run.warm;
  if (!*run.warm) object["cold_because"] = run.cold_because;
}

ordered_json confinement_object(const RunRecord& run) {
  ordered_json object = {{"profile", run.profile}, {"policy_hash", run.policy_hash}};
  if (run.receipt) {
    object["host_uid"] = run.receipt->host_uid;
    object["host_gid"] = run.receipt->host_gid;
    object["pid"] = run.receipt->pid;
    object["rlimits"] = run.receipt->rlimits;
    object["namespaces"] = run.receipt->new_namespaces;
    object["no_new_privs"] = run.receipt->no_new_privs;
    object["capabilities"] = run.receipt->capabilities;
    object["seccomp_filters"] = run.receipt->filters;
    object["landlock"] = landlock(*run.receipt);
    object["writable_mounts"] = writable_mounts(*run.receipt);
    object["descriptors"] = run.receipt->descriptors;
    object["cgroup"] = run.receipt->cgroup;
    object["cgroup_knobs"] = run.receipt->cgroup_knobs;
  }
  object["degraded"] = run.degraded;
  return object;
}

ordered_json result_object(const kernel::SandboxResult& result, WithOutput with_output) {
  ordered_json object = {
      {"cause", kernel::name_of(result.cause)},
      {"detail", result.detail},
      {"exit_code", result.exit_code},
      {"signal", result.signal},
      {"exec_errno", result.exec_error},
      {"timed_out", result.timed_out},
      {"rlimit_hit", nullptr},
      {"killed", result.killed},
      {"duration_s", result.duration_s},
      {"setup_s", result.setup_s},
      {"cpu_user_us", result.cpu_user_us},
      {"cpu_system_us", result.cpu_system_us},
      {"max_rss_bytes", result.max_rss_bytes},
      {"written_bytes", result.written_bytes},
  };
  if (result.rlimit_hit) object["rlimit_hit"] = *result.rlimit_hit;
  if (with_output == WithOutput::yes) add_bytes(object, "stdout", result.stdout);
  object["stdout_bytes"] = result.stdout_bytes;
  object["stdout_truncated"] = result.stdout_truncated;
  if (with_output == WithOutput::yes) add_bytes(object, "stderr", result.stderr);
  object["stderr_bytes"] = result.stderr_bytes;
  object["stderr_truncated"] = result.stderr_truncated;
  object["output_held_open"] = result.output_held_open;
  if (result.survivors_unproved) object["survivors_unproved"] = true;
  return object;
}

}  // namespace paddock::supervisor
