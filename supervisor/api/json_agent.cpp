// Agents -> JSON: their templates, and what becomes of the long-running ones.

#include <nlohmann/json.hpp>

#include "kernel/policy/choices.hpp"
#include "kernel/policy/units.hpp"
#include "supervisor/api/budget_object.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/json/bytes.hpp"
#include "supervisor/json/dump.hpp"
#include "supervisor/json/or_null.hpp"
#include "supervisor/telemetry/timestamp.hpp"

namespace paddock::supervisor {
namespace {

using nlohmann::ordered_json;

ordered_json end_object(const AgentEnd& end) {
  ordered_json object = {{"run", end.run},        {"at", timestamp(end.at)},
                         {"cause", end.cause},    {"exit_code", end.exit_code},
                         {"detail", end.detail},  {"exit_kind", nullptr},
                         {"summary", end.summary}};
  if (!end.exit_kind.empty()) object["exit_kind"] = end.exit_kind;
  add_bytes(object, "stderr_tail", end.stderr_tail);
  return object;
}

ordered_json status_object(const AgentNow& now) {
  const AgentStatus& status = now.status;
  ordered_json object = {{"state", name_of(status.state)},
                         {"since", nullptr},
                         {"wanted", status.wanted},
                         {"run", nullptr},
                         {"restarts", status.restarts},
                         {"reason", status.reason},
                         {"next_start", nullptr},
                         {"iteration", or_null(status.iteration)},
                         {"policy_hash", status.policy_hash},
                         {"last_end", nullptr},
                         {"budget", budget_object(now.budget)}};
  if (status.since != std::chrono::system_clock::time_point{})
    object["since"] = timestamp(status.since);
  if (!status.run.empty()) object["run"] = status.run;
  if (status.next_start) object["next_start"] = timestamp(*status.next_start);
  if (status.last_end) object["last_end"] = end_object(*status.last_end);
  return object;
}

ordered_json agent_object(const AgentView& view) {
  const kernel::AgentTemplate& agent = view.agent;
  const kernel::RestartRules& restart = agent.restart;
  ordered_json object = {
      {"name", agent.name},
      {"description", agent.description},
      {"source", agent.source},
      {"profile", agent.profile},
      {"command", agent.command},
      {"environment", agent.environment},
      {"workdir", agent.workdir},
      {"protocol", name_of(agent.protocol)},
      {"autostart", agent.autostart},
      {"workspace", name_of(agent.workspace)},
      {"tenant", agent.tenant},
      {"limits",
       {{"wall_seconds", agent.wall_clock ? ordered_json(kernel::seconds_in(*agent.wall_clock))
                                          : ordered_json(nullptr)},
        {"cpu_seconds", or_null(agent.cpu_seconds)}}},
      {"restart",
       {{"policy", name_of(restart.policy)},
        {"max_restarts", restart.max_restarts},
        {"backoff_seconds", kernel::seconds_in(restart.backoff)},
        {"backoff_max_seconds", kernel::seconds_in(restart.backoff_max)},
        {"jitter", restart.jitter},
        {"reset_seconds", kernel::seconds_in(restart.reset)},
        {"stop_seconds", kernel::seconds_in(restart.stop)}}},
      {"budget", agent.budget},
      {"log", {{"bytes", agent.log.bytes}, {"files", agent.log.files}}},
  };
  if (view.now) object["status"] = status_object(*view.now);
  return object;
}

}  // namespace

std::string agent_to_json(const AgentView& view) {
  return dump_line(agent_object(view));
}

std::string agents_to_json(const std::vector<AgentView>& views) {
  ordered_json list = ordered_json::array();
  for (const AgentView& view : views) list.push_back(agent_object(view));
  return dump_line({{"agents", std::move(list)}});
}

std::string agent_status_to_json(const std::string& name, const AgentNow& now, bool recorded) {
  ordered_json object = {{"name", name}, {"status", status_object(now)}};
  if (!recorded) object["recorded"] = false;
  return dump_line(object);
}

std::string paddock_line_to_json(const std::string& text) {
  return dump_line({{"at", timestamp(std::chrono::system_clock::now())},
                    {"run", ""},
                    {"stream", "paddock"},
                    {"text", text}});
}

}  // namespace paddock::supervisor
