#include "supervisor/cli/run_json.hpp"

#include "supervisor/cli/json_render.hpp"
#include "supervisor/json/bytes.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Cause;
using kernel::Result;
using nlohmann::ordered_json;

template <class T>
void read(const ordered_json& object, const char* key, T& value) {
  if (object.contains(key) && !object[key].is_null()) value = object[key].get<T>();
}

Cause cause_named(std::string_view name) {
  for (const Cause cause : kernel::all_causes)
    if (kernel::name_of(cause) == name) return cause;
  return Cause::internal;
}

// A run in a list has no output.
void read_bytes(const ordered_json& object, const std::string& key, std::string& bytes) {
  if (has_bytes(object, key)) bytes = bytes_at(object, key).value_or("");
}

kernel::SandboxResult result_from(const ordered_json& json) {
  kernel::SandboxResult result;
  std::string cause;
  read(json, "cause", cause);
  result.cause = cause_named(cause);
  read(json, "detail", result.detail);
  read(json, "exit_code", result.exit_code);
  read(json, "signal", result.signal);
  read(json, "exec_errno", result.exec_error);
  read(json, "timed_out", result.timed_out);
  std::string rlimit_hit;
  read(json, "rlimit_hit", rlimit_hit);
  if (!rlimit_hit.empty()) result.rlimit_hit = rlimit_hit;
  read(json, "killed", result.killed);
  read(json, "duration_s", result.duration_s);
  read(json, "setup_s", result.setup_s);
  read(json, "cpu_user_us", result.cpu_user_us);
  read(json, "cpu_system_us", result.cpu_system_us);
  read(json, "max_rss_bytes", result.max_rss_bytes);
  read(json, "written_bytes", result.written_bytes);
  read_bytes(json, "stdout", result.stdout);
  read(json, "stdout_bytes", result.stdout_bytes);
  read(json, "stdout_truncated", result.stdout_truncated);
  read_bytes(json, "stderr", result.stderr);
  read(json, "stderr_bytes", result.stderr_bytes);
  read(json, "stderr_truncated", result.stderr_truncated);
  read(json, "output_held_open", result.output_held_open);
  read(json, "survivors_unproved", result.survivors_unproved);
  return result;
}

void read_landlock(const ordered_json& json, kernel::Receipt& receipt) {
  if (!json.contains("landlock")) return;
  read(json["landlock"], "abi", receipt.landlock_abi);
  std::vector<std::string> refused;
  read(json["landlock"], "refused", refused);
  for (const std::string& what : refused)
    receipt.landlock_seen |=
        what == "file" ? kernel::landlock_seen_file : kernel::landlock_seen_signal;
}

// All that a report shows; the mounts stay in the JSON.
kernel::Receipt receipt_from(const ordered_json& json) {
  kernel::Receipt receipt;
  read(json, "pid", receipt.pid);
  read(json, "host_uid", receipt.host_uid);
  read(json, "host_gid", receipt.host_gid);
  read(json, "rlimits", receipt.rlimits);
  read(json, "namespaces", receipt.new_namespaces);
  read(json, "no_new_privs", receipt.no_new_privs);
  read(json, "capabilities", receipt.capabilities);
  read(json, "seccomp_filters", receipt.filters);
  read_landlock(json, receipt);
  read(json, "descriptors", receipt.descriptors);
  read(json, "cgroup", receipt.cgroup);
  read(json, "cgroup_knobs", receipt.cgroup_knobs);
  return receipt;
}

RunRecord record_from(const ordered_json& json) {
  RunRecord run;
  run.id = json.at("id").get<std::string>();
  const std::string state = json.at("state").get<std::string>();
  if (state == "running") run.phase = RunPhase::running;
  if (state == "finished") run.phase = RunPhase::finished;
  read(json, "profile", run.profile);
  read(json, "agent", run.agent);
  read(json, "tenant", run.tenant);
  read(json, "argv", run.argv);
  read(json, "queue_ms", run.queue_ms);
  if (json.contains("warm") && json["warm"].is_boolean()) run.warm = json["warm"].get<bool>();
  read(json, "cold_because", run.cold_because);
  if (json.contains("confinement") && json["confinement"].is_object()) {
    const ordered_json& confinement = json["confinement"];
    read(confinement, "policy_hash", run.policy_hash);
    read(confinement, "degraded", run.degraded);
    if (confinement.contains("pid")) run.receipt = receipt_from(confinement);
  }
  if (json.contains("result") && json["result"].is_object()) {
    run.result = result_from(json["result"]);
    run.result->profile = run.profile;
    run.result->policy_hash = run.policy_hash;
    run.result->receipt = run.receipt;
    run.result->degraded = run.degraded;
  }
  return run;
}

}  // namespace

Result<RunRecord> run_from_json(std::string_view json) {
  return render<RunRecord>(json, record_from);
}

Result<StreamEvent> event_from_json(std::string_view line) {
  return render<StreamEvent>(line, [](const ordered_json& json) -> Result<StreamEvent> {
    using Kind = StreamEvent::Kind;
    StreamEvent event;
    event.id = json.at("id").get<std::string>();
    const std::string name = json.at("event").get<std::string>();
    if (name == "started") event.kind = Kind::started;
    if (name == "stdout") event.kind = Kind::stdout_bytes;
    if (name == "stderr") event.kind = Kind::stderr_bytes;
    if (event.kind == Kind::stdout_bytes || event.kind == Kind::stderr_bytes) {
      event.bytes = TRY(bytes_at(json, "data", "base64"));
    }
    if (name == "finished") {
      event.kind = Kind::finished;
      event.run = record_from(json.at("run"));
    }
    return event;
  });
}

}  // namespace paddock::supervisor::cli
