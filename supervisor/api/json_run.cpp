// Runs -> JSON: RFC 0002's run, its events, and the list.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "supervisor/api/json.hpp"
#include "supervisor/json/bytes.hpp"
#include "supervisor/json/dump.hpp"
#include "supervisor/ledger/chain.hpp"
#include "supervisor/runs/run_json.hpp"
#include "supervisor/telemetry/timestamp.hpp"

namespace paddock::supervisor {
namespace {

using ordered_json = nlohmann::ordered_json;  // keys in the order in which people read them

ordered_json run_object(const RunRecord& run, WithOutput with_output) {
  ordered_json object = {
      {"id", run.id},
      {"state", name_of(run.phase)},
      {"profile", run.profile},
      {"agent", nullptr},
      {"tenant", run.tenant},
      {"argv", run.argv},
      {"created_at", timestamp(run.created_at)},
      {"queue_ms", run.queue_ms},
  };
  if (!run.agent.empty()) object["agent"] = run.agent;
  if (!run.parent.empty()) object["parent"] = run.parent;
  if (!run.recorded) object["recorded"] = false;
  add_warmth(object, run);
  if (run.result) object["result"] = result_object(*run.result, with_output);
  if (run.receipt || run.result) object["confinement"] = confinement_object(run);
  return object;
}

ordered_json usage_object(const kernel::RunUsage& usage) {
  ordered_json object = {{"cpu_us", usage.cpu_us},
                         {"memory_bytes", usage.memory_bytes},
                         {"written_bytes", nullptr},
                         {"complete", usage.complete}};
  if (usage.written_bytes) object["written_bytes"] = *usage.written_bytes;
  return object;
}

// The body of the newest event of this kind that has `key`; null if there is none.
ordered_json body_of(const StoredRun& run, std::string_view kind, const char* key) {
  for (auto at = run.events.rbegin(); at != run.events.rend(); ++at) {
    if (at->event.kind != kind) continue;
    ordered_json body = ordered_json::parse(at->event.body, nullptr, false);
    if (body.is_object() && body.contains(key)) return body;
  }
  return nullptr;
}

// Of a run whose events have been pruned there are its row's numbers.
ordered_json result_of_row(const RunRow& row) {
  constexpr double us_per_s = 1e6;
  return {{"cause", row.cause},
          {"exit_code", row.exit_code},
          {"duration_s", static_cast<double>(row.wall_us) / us_per_s},
          {"cpu_us", row.cpu_us},
          {"max_rss_bytes", row.max_rss_bytes},
          {"written_bytes", row.written_bytes}};
}

// Of its output the ledger has digests and the last bytes.
ordered_json stored_result(const StoredRun& run, WithOutput with_output) {
  const ordered_json finished = body_of(run, "run.finished", "result");
  if (finished.is_null() || !finished["result"].is_object()) return result_of_row(run.row);
  ordered_json result = finished["result"];
  if (with_output == WithOutput::no) return result;
  for (const auto& [key, value] : finished.items())
    if (key.starts_with("stdout_") || key.starts_with("stderr_")) result[key] = value;
  return result;
}

ordered_json stored_confinement(const StoredRun& run) {
  for (const char* kind : {"run.running", "run.finished"}) {
    const ordered_json body = body_of(run, kind, "confinement");
    if (!body.is_null()) return body["confinement"];
  }
  ordered_json degraded = ordered_json::array();
  for (std::string_view rest = run.row.degraded; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    degraded.push_back(name);
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
  }
  return {{"profile", run.row.profile},
          {"policy_hash", run.row.policy_hash},
          {"degraded", std::move(degraded)}};
}

void add_stored_warmth(ordered_json& object, const StoredRun& run) {
  for (const char* kind : {"run.finished", "run.running"}) {
    const ordered_json body = body_of(run, kind, "warm");
    if (body.is_null()) continue;
    for (const char* key : {"warm", "cold_because"})
      if (body.contains(key)) object[key] = body[key];
    return;
  }
}

ordered_json argv_of(const StoredRun& run) {
  for (const char* kind : {"run.queued", "run.starting"}) {
    const ordered_json body = body_of(run, kind, "argv");
    if (!body.is_null()) return body["argv"];
  }
  return ordered_json::array();
}

ordered_json stored_object(const StoredRun& run, WithOutput with_output) {
  constexpr std::int64_t us_per_ms = 1000;
  const RunRow& row = run.row;
  ordered_json object = {
      {"id", row.id},
      {"state", row.state == "starting" ? "queued" : row.state},
      {"profile", row.profile},
      {"agent", nullptr},
      {"tenant", row.tenant},
      {"argv", argv_of(run)},
      {"created_at", timestamp(from_microseconds(row.created_us))},
      {"queue_ms", row.started_us == 0 ? 0 : (row.started_us - row.created_us) / us_per_ms},
  };
  if (!row.agent.empty()) object["agent"] = row.agent;
  if (!row.parent.empty()) object["parent"] = row.parent;
  add_stored_warmth(object, run);
  if (row.state == "finished") object["result"] = stored_result(run, with_output);
  object["confinement"] = stored_confinement(run);
  return object;
}

std::string line(const ordered_json& event) {
  return dump_line(event);
}

}  // namespace

std::string run_to_json(const RunRecord& run, WithOutput with_output) {
  return line(run_object(run, with_output));
}

std::string live_runs_to_json(const std::vector<const RunRecord*>& runs,
                              const std::map<RunId, kernel::RunUsage>& usage) {
  ordered_json list = ordered_json::array();
  for (const RunRecord* run : runs) {
    list.push_back(run_object(*run, WithOutput::no));
    if (const auto used = usage.find(run->id); used != usage.end())
      list.back()["usage"] = usage_object(used->second);
  }
  return line({{"runs", std::move(list)}});
}

std::string stored_run_to_json(const StoredRun& run) {
  return line(stored_object(run, WithOutput::yes));
}

std::string runs_to_json(const std::vector<const RunRecord*>& runs,
                         const std::vector<StoredRun>& stored) {
  ordered_json list = ordered_json::array();
  auto older = stored.begin();
  for (const RunRecord* run : runs) {
    for (; older != stored.end() && from_microseconds(older->row.created_us) > run->created_at;
         ++older)
      list.push_back(stored_object(*older, WithOutput::no));
    list.push_back(run_object(*run, WithOutput::no));
  }
  for (; older != stored.end(); ++older) list.push_back(stored_object(*older, WithOutput::no));
  return line({{"runs", std::move(list)}});
}

std::string started_event(const RunRecord& run) {
  return line({{"event", "started"}, {"id", run.id}, {"confinement", confinement_object(run)}});
}

std::string output_event(const RunId& id, std::string_view stream, std::string_view bytes) {
  ordered_json event = {{"event", stream}, {"id", id}};
  add_bytes(event, "data", "base64", bytes);
  return line(event);
}

std::string finished_event(const RunRecord& run) {
  return line({{"event", "finished"}, {"id", run.id}, {"run", run_object(run, WithOutput::no)}});
}

}  // namespace paddock::supervisor
