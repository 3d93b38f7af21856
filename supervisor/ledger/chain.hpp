#pragma once
// The chain: each event's hash covers the hash of the one before and the rows written with it.
// Pure.

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/ledger/transition.hpp"

namespace paddock::supervisor {

// What the first event has in place of the hash of the one before.
inline const std::string hash_before_all = std::string(64, '0');

enum class RowKind { run, policy, agent, budget, verdict };
inline constexpr std::array row_kinds = {RowKind::run, RowKind::policy, RowKind::agent,
                                         RowKind::budget, RowKind::verdict};

std::string_view name_of(RowKind kind);

// A row that an event wrote: which one, and the SHA-256 of all that it then held.
struct WrittenRow {
  RowKind kind = RowKind::run;
  // A run's id, a policy's hash, an agent's name; of a budget key_of(); of a verdict, which is
  // written once and may have no name of its own, the event's seq.
  std::string key;
  std::string digest;

  bool operator==(const WrittenRow&) const = default;
};

std::string key_of(const BudgetRow& row);

WrittenRow written(const RunRow& row);
WrittenRow written(const PolicyRow& row);
WrittenRow written(const AgentRow& row);
WrittenRow written(const BudgetRow& row);
WrittenRow written(const VerdictRow& row, std::uint64_t event_seq);

// As an event keeps them. decode_rows() has nothing to say of a text that is not of encode_rows().
std::string encode_rows(const std::vector<WrittenRow>& rows);
std::optional<std::vector<WrittenRow>> decode_rows(std::string_view text);

// Since the epoch: the resolution in which a ledger keeps time.
inline std::int64_t to_microseconds(std::chrono::system_clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count();
}
inline std::chrono::system_clock::time_point from_microseconds(std::int64_t at_us) {
  return std::chrono::system_clock::time_point(std::chrono::microseconds(at_us));
}

std::string event_hash(const std::string& previous_hash, std::uint64_t seq, const Event& event,
                       std::string_view encoded_rows);

}  // namespace paddock::supervisor
