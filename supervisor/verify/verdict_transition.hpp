#pragma once
// What the ledger and the feed are told of verdicts. Pure. Their events have no subject: what a
// client chose must not be taken for a run or an agent.

#include <string>

#include "supervisor/ledger/transition.hpp"
#include "supervisor/verify/item_answer.hpp"

namespace paddock::supervisor {

inline constexpr const char* verdict_event = "verify.verdict";
inline constexpr const char* group_event = "verify.group";

// `sent` is the answer as the client gets it, answer_to_json(answer): kept to be sent again. The
// event's body has of it what a trainer needs.
Transition verdict_transition(const ItemAnswer& answer, std::string sent,
                              const std::string& request_id, const std::string& tenant,
                              std::chrono::system_clock::time_point at);

// After the last verdict of the group.
Transition group_transition(const GroupAnswer& group, const std::string& tenant,
                            std::chrono::system_clock::time_point at);

}  // namespace paddock::supervisor
