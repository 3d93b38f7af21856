#include "supervisor/runs/stored_run.hpp"

#include <nlohmann/json.hpp>

#include "supervisor/ledger/chain.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Cause;
using kernel::SandboxResult;
using nlohmann::json;

template <class T>
void read(const json& object, const char* key, T& value) {
  if (object.contains(key) && !object[key].is_null()) value = object[key].get<T>();
}

Cause cause_named(std::string_view name) {
  for (const Cause cause : kernel::all_causes)
    if (kernel::name_of(cause) == name) return cause;
  return Cause::internal;
}

RunPhase phase_of(std::string_view state) {
  if (state == "finished") return RunPhase::finished;
  return state == "running" ? RunPhase::running : RunPhase::queued;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    words.emplace_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

// What the row has is there in any case, also if the event is no longer.
SandboxResult result_of(const RunRow& row) {
  SandboxResult result;
  result.cause = cause_named(row.cause);
  result.exit_code = static_cast<int>(row.exit_code);
  result.timed_out = result.cause == Cause::wall_clock || result.cause == Cause::host_overloaded;
  result.duration_s = static_cast<double>(row.wall_us) / 1e6;
  result.cpu_user_us = row.cpu_us;
  result.max_rss_bytes = row.max_rss_bytes;
  return result;
}

void read_event(const StoredEvent& stored, RunRecord& run) {
  const json body = json::parse(stored.event.body);
  read(body, "argv", run.argv);
  if (body.contains("warm")) run.warm = body["warm"].get<bool>();
  read(body, "cold_because", run.cold_because);
  if (!body.contains("result")) return;
  const json& object = body["result"];
  SandboxResult& result = *run.result;
  read(object, "detail", result.detail);
  read(object, "signal", result.signal);
  read(object, "exec_errno", result.exec_error);
  read(object, "killed", result.killed);
  read(object, "stdout_bytes", result.stdout_bytes);
  read(object, "stderr_bytes", result.stderr_bytes);
}

}  // namespace

kernel::Result<RunRecord> record_of(const StoredRun& stored) {
  const RunRow& row = stored.row;
  RunRecord run;
  run.id = row.id;
  run.phase = phase_of(row.state);
  run.profile = row.profile;
  run.agent = row.agent;
  run.tenant = row.tenant;
  run.created_at = from_microseconds(row.created_us);
  run.policy_hash = row.policy_hash;
  run.policy_text = stored.policy_text;
  run.degraded = split(row.degraded);
  if (run.phase == RunPhase::finished) run.result = result_of(row);
  try {
    for (const StoredEvent& event : stored.events) read_event(event, run);
  } catch (const json::exception& error) {
    return kernel::fail(kernel::ErrorCode::not_recorded,
                        "the ledger's events of run '" + row.id + "': " + error.what());
  }
  return run;
}

}  // namespace paddock::supervisor
