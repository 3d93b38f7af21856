#pragma once
// What the ledger and /v1/events are told of budgets.

#include <string>

#include "supervisor/agents/budget.hpp"

namespace paddock::supervisor {

inline constexpr const char* budget_breached_event = "budget.breached";

// "budget.charged", or "budget.limited" when limits have changed: what is used of each dimension.
Transition usage_transition(const std::string& kind, const std::string& agent,
                            const std::string& tenant, const Budget& budget);

// "budget.warned" or "budget.breached", of one dimension.
Transition threshold_transition(const std::string& kind, const std::string& agent,
                                const std::string& tenant, const Budget& budget,
                                const std::string& dimension);

Transition granted_transition(const std::string& agent, const std::string& tenant,
                              const Budget& budget, const std::string& dimension,
                              std::uint64_t amount);

}  // namespace paddock::supervisor
