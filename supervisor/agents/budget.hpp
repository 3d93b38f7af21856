#pragma once
// Budget: how much of each dimension one agent may use, and has used. Pure arithmetic: who is told
// of it, and what is frozen for it, is decided elsewhere.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernel/base/error.hpp"
#include "supervisor/agents/jsonl.hpp"
#include "supervisor/ledger/transition.hpp"

namespace paddock::supervisor {

// An agent names dimensions as it likes, and each is a row for ever. Those that the supervisor
// measures do not count.
constexpr std::size_t budget_dimensions_max = 64;

struct BudgetState {
  std::int64_t limit = 0;    // of the template; 0: unlimited
  std::int64_t granted = 0;  // on top of it
  std::int64_t used = 0;
  bool warned = false;    // it has used 80 % of what it may
  bool breached = false;  // all of it, or more

  std::int64_t may_use() const;  // 0: without limit

  bool operator==(const BudgetState&) const = default;
};

// The dimensions that a change brought to a threshold: each once, until it is below it again.
struct BudgetNews {
  std::vector<std::string> warned;
  std::vector<std::string> breached;

  bool empty() const { return warned.empty() && breached.empty(); }
  bool operator==(const BudgetNews&) const = default;
};

using BudgetLimits = std::map<std::string, std::uint64_t>;

class Budget {
 public:
  Budget() = default;
  // As a ledger has it. Its limits are those of then: set_limits() comes next.
  explicit Budget(const std::vector<BudgetRow>& rows);

  // Applied whole, also past a limit, or not at all. Fails with invalid_request if it names more
  // dimensions than a budget may have. What would overflow stays at the most that there is.
  kernel::Result<BudgetNews> charge(const Charges& charges);

  // More of one dimension. Fails with invalid_request if that has no limit, or `amount` is 0 or
  // more than kernel::budget_amount_max.
  kernel::Result<BudgetNews> grant(const std::string& dimension, std::uint64_t amount);

  // What is used and what was granted stays.
  BudgetNews set_limits(const BudgetLimits& limits);

  bool is_spent() const;  // a dimension is at its limit or past it
  const std::map<std::string, BudgetState>& dimensions() const { return dimensions_; }
  std::vector<BudgetRow> rows(const std::string& agent) const;

  bool operator==(const Budget&) const = default;

 private:
  std::map<std::string, BudgetState> dimensions_;
};

}  // namespace paddock::supervisor
