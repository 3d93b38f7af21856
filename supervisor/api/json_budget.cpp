// Budgets -> JSON.

#include <nlohmann/json.hpp>

#include "supervisor/api/budget_object.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/json/dump.hpp"

namespace paddock::supervisor {

using nlohmann::ordered_json;

ordered_json budget_object(const Budget& budget) {
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
  return {{"spent", budget.is_spent()}, {"dimensions", std::move(dimensions)}};
}

std::string budget_to_json(const std::string& agent, const Budget& budget) {
  ordered_json whole = ordered_json::object();
  whole["agent"] = agent;
  whole.update(budget_object(budget));
  return dump_line(whole);
}

}  // namespace paddock::supervisor
