#pragma once
// Explain: why a run ended as it did: which limit, what was observed, what to change. A pure
// function of the run's record and of its policy's text, so that it says the same of a run in
// memory and of one in the ledger.

#include <string>

#include "supervisor/runs/run_record.hpp"

namespace paddock::supervisor {

struct Explanation {
  bool needed = true;    // false: the run succeeded, or is not over
  std::string limit;     // what ended it, and where that stands
  std::string observed;  // the numbers
  std::string change;    // what to do about it

  bool operator==(const Explanation&) const = default;
};

Explanation explain(const RunRecord& run);

// The value of `key` in a policy's canonical text; empty if it is not there.
std::string policy_value(std::string_view policy_text, std::string_view key);

}  // namespace paddock::supervisor
