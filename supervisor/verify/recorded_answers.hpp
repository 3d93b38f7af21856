#pragma once
// RecordedAnswers: what the ledger knows of a verify request that comes again, and of its nonces.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernel/base/error.hpp"
#include "supervisor/ledger/ledger.hpp"

namespace paddock::supervisor {

struct RecordedAnswers {
  std::map<std::string, std::string> answers;  // an item's id -> JSON, as its client got it
  std::set<std::string> groups;                // those whose end is recorded
  std::set<std::string> nonces;                // of those asked for: used before
};

struct RecordedQuestion {
  std::string tenant;
  std::string request_id;  // empty: none
  std::vector<std::string> nonces;
};

// Answers from the loop, never from within the call.
using LookUpRecorded = std::function<void(
    RecordedQuestion, std::function<void(kernel::Result<RecordedAnswers>)> on_answer)>;

// In the ledger. `ledger` outlives what is returned.
LookUpRecorded look_up_in(Ledger& ledger);

}  // namespace paddock::supervisor
