#pragma once
// Retention: which events go, and what the ledger says about it. Pure.

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "supervisor/ledger/transition.hpp"

namespace paddock::supervisor {

inline constexpr std::string_view pruned_kind = "ledger.pruned";

struct AgedEvent {
  std::int64_t at_us = 0;
  bool is_pruning = false;  // it is a ledger.pruned

  bool operator==(const AgedEvent&) const = default;
};

// How many of the oldest events go: those before `cutoff_us`, up to the first that has to stay, or
// all of them if the file `is_too_big`. The clock may have jumped: what claims to be of the future
// goes when something behind it is old. A single ledger.pruned stays, as the next one would only
// take its place.
std::size_t events_to_delete(std::span<const AgedEvent> oldest, std::int64_t cutoff_us,
                             std::int64_t now_us, bool is_too_big);

// The body of ledger.pruned: where the chain goes on from, and how much went.
std::string pruned_body(const LedgerHead& anchor, std::size_t events, std::size_t runs);
std::optional<LedgerHead> anchor_in(std::string_view pruned_body);

}  // namespace paddock::supervisor
