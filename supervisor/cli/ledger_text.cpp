#include "supervisor/cli/ledger_text.hpp"

#include <chrono>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "supervisor/cli/table.hpp"
#include "supervisor/cli/terminal.hpp"
#include "supervisor/json/dump.hpp"

namespace paddock::supervisor::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string time_text(std::chrono::microseconds since_epoch) {
  const std::chrono::sys_seconds seconds(std::chrono::floor<std::chrono::seconds>(since_epoch));
  const auto rest = since_epoch - seconds.time_since_epoch();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)), rest.count());
}

std::string time_text(std::int64_t at_us) {
  return at_us == 0 ? "" : time_text(std::chrono::microseconds(at_us));
}

std::string time_text(std::chrono::system_clock::time_point at) {
  return time_text(std::chrono::floor<std::chrono::microseconds>(at.time_since_epoch()));
}

std::string seconds_text(std::uint64_t microseconds) {
  return fmt::format("{:.3f} s", static_cast<double>(microseconds) / 1e6);
}

std::string mark_text(const std::optional<kernel::ProcessMark>& mark) {
  if (!mark) return "";
  return fmt::format("pid {}, started at tick {} of boot {}", mark->pid, mark->start_ticks,
                     mark->boot_id);
}

Json mark_json(const std::optional<kernel::ProcessMark>& mark) {
  if (!mark) return nullptr;
  return {{"pid", mark->pid}, {"start_ticks", mark->start_ticks}, {"boot_id", mark->boot_id}};
}

Json time_json(std::int64_t at_us) {
  return at_us == 0 ? Json(nullptr) : Json(time_text(at_us));
}

// A body is JSON; one that is not, after an edit, is shown as text.
Json body_json(const std::string& body) {
  const Json parsed = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  return parsed.is_discarded() ? Json(body) : parsed;
}

Json row_json(const RunRow& row) {
  return {{"id", row.id},
          {"state", row.state},
          {"tenant", row.tenant},
          {"profile", row.profile},
          {"agent", row.agent},
          {"parent", row.parent},
          {"policy_hash", row.policy_hash},
          {"created_at", time_json(row.created_us)},
          {"started_at", time_json(row.started_us)},
          {"ended_at", time_json(row.ended_us)},
          {"launcher", mark_json(row.launcher)},
          {"agent_process", mark_json(row.agent_process)},
          {"cause", row.cause},
          {"exit_code", row.exit_code},
          {"cpu_us", row.cpu_us},
          {"wall_us", row.wall_us},
          {"max_rss_bytes", row.max_rss_bytes},
          {"written_bytes", row.written_bytes},
          {"degraded", row.degraded}};
}

Json event_json(const StoredEvent& stored) {
  return {{"seq", stored.seq},
          {"at", time_text(stored.event.at)},
          {"kind", stored.event.kind},
          {"subject", stored.event.subject},
          {"tenant", stored.event.tenant},
          {"body", body_json(stored.event.body)},
          {"hash", stored.hash}};
}

}  // namespace

std::string verification_text(const Verification& found, const std::string& file) {
  std::string text;
  if (found.edit) {
    text += fmt::format("EDITED: {}\nin {}\n", printable(found.edit->what), printable(file));
    text += fmt::format("{} events before that fit\n", found.events);
    return text;
  }
  if (found.events == 0)
    return fmt::format("empty: no event in {}, so that nothing was checked\n", printable(file));
  text +=
      fmt::format("whole: {} events, {} rows in {}\n", found.events, found.rows, printable(file));
  if (found.anchor.seq != 0) text += fmt::format("pruned up to {}\n", to_text(found.anchor));
  text += fmt::format("head: {}\n", to_text(found.head));
  return text;
}

std::string verification_json(const Verification& found, const std::string& file) {
  Json json = {
      {"file", file},
      {"whole", !found.edit.has_value()},
      {"events", found.events},
      {"rows", found.rows},
      {"pruned_up_to", found.anchor.seq == 0 ? Json(nullptr) : Json(to_text(found.anchor))},
      {"head", to_text(found.head)},
      {"edit", nullptr}};
  if (found.edit) json["edit"] = {{"seq", found.edit->seq}, {"what", found.edit->what}};
  return dump_indented(json);
}

std::string stored_run_text(const StoredRun& run, const std::string& file) {
  const RunRow& row = run.row;
  std::vector<std::vector<std::string>> lines;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) lines.push_back({name, value});
  };
  add("ledger", file);
  add("run", row.id);
  add("state", row.state);
  add("cause", row.cause);
  add("tenant", row.tenant);
  add("profile", row.profile);
  add("agent", row.agent);
  add("parent", row.parent);
  add("policy", row.policy_hash);
  add("degraded", row.degraded);
  add("created", time_text(row.created_us));
  add("started", time_text(row.started_us));
  add("ended", time_text(row.ended_us));
  add("launcher", mark_text(row.launcher));
  add("agent process", mark_text(row.agent_process));
  if (row.state == "finished") {
    add("exit code", std::to_string(row.exit_code));
    add("cpu", seconds_text(row.cpu_us));
    add("wall", seconds_text(row.wall_us));
    add("max memory", fmt::format("{} bytes", row.max_rss_bytes));
    add("written", fmt::format("{} bytes", row.written_bytes));
  }
  std::string text = table(lines) + "\n";
  std::vector<std::vector<std::string>> events = {{"SEQ", "AT", "EVENT", "BODY"}};
  for (const StoredEvent& stored : run.events)
    events.push_back({std::to_string(stored.seq), time_text(stored.event.at), stored.event.kind,
                      stored.event.body});
  return text + table(events);
}

std::string stored_run_json(const StoredRun& run, const std::string& file) {
  Json events = Json::array();
  for (const StoredEvent& stored : run.events) events.push_back(event_json(stored));
  return dump_indented({{"ledger", file},
                        {"run", row_json(run.row)},
                        {"events", events},
                        {"policy_text", run.policy_text}});
}

}  // namespace paddock::supervisor::cli
