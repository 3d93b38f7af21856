#include "supervisor/agents/budget_events.hpp"

#include <nlohmann/json.hpp>

#include "supervisor/json/dump.hpp"

namespace paddock::supervisor {
namespace {

using nlohmann::ordered_json;

Transition transition(const std::string& kind, const std::string& agent, const std::string& tenant,
                      const Budget& budget, const ordered_json& body) {
  return {.event = {.kind = kind,
                    .subject = agent,
                    .tenant = tenant,
                    .body = dump(body),
                    .at = std::chrono::system_clock::now()},
          .budgets = budget.rows(agent)};
}

ordered_json body_of(const Budget& budget, const std::string& dimension) {
  const BudgetState& state = budget.dimensions().at(dimension);
  return {{"dim", dimension}, {"used", state.used}, {"limit", state.may_use()}};
}

}  // namespace

Transition usage_transition(const std::string& kind, const std::string& agent,
                            const std::string& tenant, const Budget& budget) {
  ordered_json used = ordered_json::object();
  for (const auto& [dimension, state] : budget.dimensions()) used[dimension] = state.used;
  return transition(kind, agent, tenant, budget, {{"used", std::move(used)}});
}

Transition threshold_transition(const std::string& kind, const std::string& agent,
                                const std::string& tenant, const Budget& budget,
                                const std::string& dimension) {
  return transition(kind, agent, tenant, budget, body_of(budget, dimension));
}

Transition granted_transition(const std::string& agent, const std::string& tenant,
                              const Budget& budget, const std::string& dimension,
                              std::uint64_t amount) {
  ordered_json body = body_of(budget, dimension);
  body["amount"] = amount;
  return transition("budget.granted", agent, tenant, budget, body);
}

}  // namespace paddock::supervisor
