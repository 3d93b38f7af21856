#pragma once
// What the ledger and /v1/events are told of agents.

#include <string>

#include "supervisor/agents/agent_status.hpp"
#include "supervisor/ledger/transition.hpp"

namespace paddock::supervisor {

inline constexpr const char* agent_restarting_event = "agent.restarting";

enum class Wanted { running, stopped };

// `kind` is "agent.exited". The body says what of `status` belongs to that kind.
Transition agent_transition(const std::string& kind, const std::string& agent,
                            const std::string& tenant, const AgentStatus& status);

// The same with a row: from now on it shall run, or not. `by` says who wants that.
Transition wanted_transition(const std::string& kind, const std::string& agent,
                             const std::string& tenant, Wanted wanted, const std::string& by);

}  // namespace paddock::supervisor
