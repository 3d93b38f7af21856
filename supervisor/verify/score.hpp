#pragma once
// From the cases of an item to its number. Pure.

#include <cstdint>
#include <span>
#include <string>

#include "supervisor/verify/item_answer.hpp"

namespace paddock::supervisor {

struct Score {
  Verdict verdict = Verdict::fail;  // never invalid
  double reward = 0;
  std::uint64_t passed = 0;
  std::uint64_t total = 0;
  std::string cause;  // of the first case that failed
  std::string detail;

  bool operator==(const Score&) const = default;
};

// With Stop::first_fail no case after the first failed one counts as passed.
Score score_of(std::span<const CaseAnswer> cases, Scoring scoring, Stop stop);

}  // namespace paddock::supervisor
