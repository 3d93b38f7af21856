#pragma once
// feed_line(): an event of the ledger as a trainer reads it in the feed. Pure.

#include <string>

#include "supervisor/ledger/transition.hpp"
#include "supervisor/verify/advantages.hpp"

namespace paddock::supervisor {

// What every event of the feed begins with; others in between are left out.
inline constexpr const char* feed_kind_prefix = "verify.";

// One line of JSON, ending in a newline; empty for an event that is no verdict and no group. Of a
// body that cannot be what the daemon wrote the line has the kind "damaged" and no number.
std::string feed_line(const StoredEvent& event, AdvantageKind advantage_kind);

}  // namespace paddock::supervisor
