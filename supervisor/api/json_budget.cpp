// Budgets -> JSON.

#include <nlohmann/json.hpp>

#include "supervisor/api/json.hpp"

namespace paddock::supervisor {

std::string budget_to_json(const std::string& agent, const Budget& budget) {
  using nlohmann::ordered_json;
  ordered_json dimensions = ordered_json::object();
  for (const auto& [dimension, state] : budget.dimensions()) {
    ordered_json& object = dimensions[dimension];
    object = {{"used", state.used},
              {"limit", nullptr},
              {"granted", state.granted},
              {"warned", state.warned},
              {"breached", state.breached}};
    if (state.limit > 0) object["limit"] = state.may_use();
  }
  const ordered_json whole = {
      {"agent", agent}, {"spent", budget.is_spent()}, {"dimensions", std::move(dimensions)}};
  return whole.dump() + "\n";
}

}  // namespace paddock::supervisor
