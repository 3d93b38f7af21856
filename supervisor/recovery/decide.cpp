#include "supervisor/recovery/decide.hpp"

#include <nlohmann/json.hpp>

#include "kernel/run/result.hpp"
#include "supervisor/json/dump.hpp"
#include "supervisor/ledger/chain.hpp"
#include "supervisor/runs/run_json.hpp"

namespace paddock::supervisor {
namespace {

constexpr int exit_code_of_killed = -9;

std::string detail_of(const std::string& state, const Remains& remains) {
  if (state == "queued") return "the daemon ended while the run was in the queue: it never started";
  std::string text = state == "starting" ? "the daemon ended while the run was being started"
                                         : "the daemon ended while the run was alive";
  if (!remains.gone) text += "; some of its processes could not be killed";
  return text;
}

// null if it is not there.
nlohmann::json confinement_value(std::string_view body, const char* key) {
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object()) return nullptr;
  const auto confinement = json.find("confinement");
  if (confinement == json.end() || !confinement->is_object()) return nullptr;
  return confinement->value(key, nlohmann::json());
}

}  // namespace

std::vector<LeftRun> what_can_be_left(const std::vector<UnfinishedRun>& unfinished,
                                      const std::string& boot_id) {
  std::vector<LeftRun> left;
  for (const UnfinishedRun& run : unfinished) {
    if (run.row.state == "queued") continue;
    LeftRun one{.id = run.row.id, .marks = {}, .host_uid = run.host_uid};
    for (const auto& mark : {run.row.launcher, run.row.agent_process})
      if (mark && mark->boot_id == boot_id) one.marks.push_back(*mark);
    left.push_back(std::move(one));
  }
  return left;
}

Transition restart_transition(const RunRow& unfinished, const Remains& remains,
                              std::chrono::system_clock::time_point now) {
  kernel::SandboxResult result;
  result.cause = kernel::Cause::daemon_restart;
  result.detail = detail_of(unfinished.state, remains);
  result.exit_code = exit_code_of_killed;
  result.killed = true;
  result.survivors_unproved = !remains.gone;

  Transition made;
  RunRow row = unfinished;
  row.state = "finished";
  row.cause = kernel::name_of(result.cause);
  row.exit_code = result.exit_code;
  row.ended_us = to_microseconds(now);
  made.event = {
      .kind = "run.finished",
      .subject = row.id,
      .tenant = row.tenant,
      .body = dump({{"result", result_object(result, WithOutput::no)}, {"was", unfinished.state}}),
      .at = now};
  made.run = std::move(row);
  return made;
}

std::optional<uid_t> recorded_host_uid(std::string_view body) {
  const nlohmann::json value = confinement_value(body, "host_uid");
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > UINT32_MAX) return std::nullopt;
  return static_cast<uid_t>(value.get<std::uint64_t>());
}

std::optional<std::string> recorded_leaf(std::string_view body, std::string_view id) {
  const nlohmann::json value = confinement_value(body, "cgroup");
  if (!value.is_string()) return std::nullopt;
  auto path = value.get<std::string>();
  if (!path.starts_with('/') || !path.ends_with("/" + std::string(id))) return std::nullopt;
  return path;
}

}  // namespace paddock::supervisor
