#include "supervisor/agents/budget.hpp"

#include <algorithm>
#include <limits>

#include "kernel/policy/agent_template.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

// Both 0 or more.
std::int64_t added(std::int64_t amount, std::uint64_t more) {
  const auto room = static_cast<std::uint64_t>(most - amount);
  return more > room ? most : amount + static_cast<std::int64_t>(more);
}

// Sets the flags to what is so now, and says what of it is new.
void settle(const std::string& dimension, BudgetState& state, BudgetNews& news) {
  const std::int64_t may_use = state.may_use();
  const bool warns = may_use > 0 && state.used >= may_use - may_use / 5;
  const bool breaches = may_use > 0 && state.used >= may_use;
  if (warns && !state.warned) news.warned.push_back(dimension);
  if (breaches && !state.breached) news.breached.push_back(dimension);
  state.warned = warns;
  state.breached = breaches;
}

}  // namespace

std::int64_t BudgetState::may_use() const {
  return limit == 0 ? 0 : added(limit, static_cast<std::uint64_t>(granted));
}

Budget::Budget(const std::vector<BudgetRow>& rows) {
  for (const BudgetRow& row : rows) {
    dimensions_[row.dimension] = {.limit = std::max<std::int64_t>(row.limit, 0),
                                  .granted = std::max<std::int64_t>(row.granted, 0),
                                  .used = std::max<std::int64_t>(row.used, 0),
                                  .warned = row.warned,
                                  .breached = row.breached};
  }
}

Result<BudgetNews> Budget::charge(const Charges& charges) {
  const auto counts = [](const auto& entry) { return !is_measured(entry.first); };
  const auto known = std::count_if(dimensions_.begin(), dimensions_.end(), counts);
  const auto added_ones = std::count_if(charges.begin(), charges.end(), [&](const auto& entry) {
    return counts(entry) && dimensions_.count(entry.first) == 0;
  });
  if (added_ones > 0 && static_cast<std::size_t>(known + added_ones) > budget_dimensions_max)
    return fail(ErrorCode::invalid_request,
                "a budget has at most " + std::to_string(budget_dimensions_max) + " dimensions");
  BudgetNews news;
  for (const auto& [dimension, amount] : charges) {
    BudgetState& state = dimensions_[dimension];
    state.used = added(state.used, amount);
    settle(dimension, state, news);
  }
  return news;
}

Result<BudgetNews> Budget::grant(const std::string& dimension, std::uint64_t amount) {
  const auto at = dimensions_.find(dimension);
  if (at == dimensions_.end() || at->second.limit == 0)
    return fail(ErrorCode::invalid_request,
                "'" + dimension + "' has no limit here: there is nothing to grant");
  if (amount == 0 || amount > kernel::budget_amount_max)
    return fail(ErrorCode::invalid_request, "an amount is a whole number from 1 to 2^53");
  at->second.granted = added(at->second.granted, amount);
  BudgetNews news;
  settle(dimension, at->second, news);
  return news;
}

BudgetNews Budget::set_limits(const BudgetLimits& limits) {
  for (auto& [dimension, state] : dimensions_) state.limit = 0;
  for (const auto& [dimension, limit] : limits) dimensions_[dimension].limit = added(0, limit);
  BudgetNews news;
  for (auto& [dimension, state] : dimensions_) settle(dimension, state, news);
  return news;
}

bool Budget::is_spent() const {
  return std::any_of(dimensions_.begin(), dimensions_.end(),
                     [](const auto& entry) { return entry.second.breached; });
}

std::vector<BudgetRow> Budget::rows(const std::string& agent) const {
  std::vector<BudgetRow> rows;
  for (const auto& [dimension, state] : dimensions_) {
    rows.push_back({.agent = agent,
                    .dimension = dimension,
                    .limit = state.limit,
                    .granted = state.granted,
                    .used = state.used,
                    .warned = state.warned,
                    .breached = state.breached});
  }
  return rows;
}

}  // namespace paddock::supervisor
