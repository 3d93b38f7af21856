#pragma once
// A budget as JSON, for the answers that contain one.

#include <nlohmann/json_fwd.hpp>

#include "supervisor/agents/budget.hpp"

namespace paddock::supervisor {

// {"spent", "dimensions": {DIM: {used, limit, granted, warned, breached}}}
nlohmann::ordered_json budget_object(const Budget& budget);

}  // namespace paddock::supervisor
