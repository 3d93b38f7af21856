#include "supervisor/agents/agent_events.hpp"

#include <nlohmann/json.hpp>

#include "supervisor/json/dump.hpp"

namespace paddock::supervisor {
namespace {

using nlohmann::ordered_json;

Transition transition_of(const std::string& kind, const std::string& agent,
                         const std::string& tenant, const ordered_json& body) {
  return {.event = {.kind = kind,
                    .subject = agent,
                    .tenant = tenant,
                    .body = dump(body),
                    .at = std::chrono::system_clock::now()}};
}

}  // namespace

Transition agent_transition(const std::string& kind, const std::string& agent,
                            const std::string& tenant, const AgentStatus& status) {
  ordered_json body = ordered_json::object();
  if (kind == "agent.exited" && status.last_end) {
    const AgentEnd& end = *status.last_end;
    body = {{"run", end.run}, {"cause", end.cause}, {"exit_code", end.exit_code}};
    if (!end.exit_kind.empty()) body["exit_kind"] = end.exit_kind;
    if (!end.summary.empty()) body["summary"] = end.summary;
  } else if (!status.run.empty()) {
    body["run"] = status.run;
  }
  if (!status.reason.empty()) body["reason"] = status.reason;
  if (kind == agent_restarting_event) {
    body["restarts"] = status.restarts;
    if (status.next_start)
      body["in_ms"] =
          std::chrono::duration_cast<std::chrono::milliseconds>(*status.next_start - status.since)
              .count();
  }
  return transition_of(kind, agent, tenant, body);
}

Transition wanted_transition(const std::string& kind, const std::string& agent,
                             const std::string& tenant, Wanted wanted, const std::string& by) {
  Transition transition = transition_of(kind, agent, tenant, {{"by", by}});
  transition.agent =
      AgentRow{.name = agent, .wanted = wanted == Wanted::running ? "running" : "stopped"};
  return transition;
}

}  // namespace paddock::supervisor
