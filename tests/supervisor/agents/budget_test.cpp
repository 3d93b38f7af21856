#include "supervisor/agents/budget.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "kernel/policy/agent_template.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

Budget with_limits(const BudgetLimits& limits) {
  Budget budget;
  CHECK(budget.set_limits(limits).empty());
  return budget;
}

BudgetNews charge(Budget& budget, const Charges& charges) {
  const auto news = budget.charge(charges);
  REQUIRE(news);
  return *news;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a dimension without a limit is counted and never spent") {
  Budget budget;
  CHECK(charge(budget, {{"tokens", 5}}).empty());
  CHECK(charge(budget, {{"tokens", 7}}).empty());
  CHECK(budget.dimensions().at("tokens").used == 12);
  CHECK(budget.dimensions().at("tokens").may_use() == 0);
  CHECK_FALSE(budget.is_spent());
}

TEST_CASE("at 80 % there is one warning, and at the limit one breach") {
  Budget budget = with_limits({{"tokens", 10}});
  CHECK(charge(budget, {{"tokens", 7}}).empty());
  CHECK(charge(budget, {{"tokens", 1}}) == BudgetNews{.warned = {"tokens"}, .breached = {}});
  CHECK(charge(budget, {{"tokens", 1}}).empty());
  CHECK_FALSE(budget.is_spent());
  CHECK(charge(budget, {{"tokens", 1}}) == BudgetNews{.warned = {}, .breached = {"tokens"}});
  CHECK(budget.is_spent());
  CHECK(charge(budget, {{"tokens", 100}}).empty());
  CHECK(budget.dimensions().at("tokens").used == 110);  // recorded past the limit, too
}

TEST_CASE("the warning comes at the first whole amount that is 80 % or more") {
  for (std::uint64_t limit = 1; limit <= 200; ++limit) {
    Budget budget = with_limits({{"d", limit}});
    for (std::uint64_t used = 1; used <= limit; ++used) {
      charge(budget, {{"d", 1}});
      INFO(used << " of " << limit);
      CHECK(budget.dimensions().at("d").warned == (used * 10 >= limit * 8));
      CHECK(budget.dimensions().at("d").breached == (used >= limit));
    }
  }
}

TEST_CASE("one charge may cross both thresholds, and of several dimensions") {
  Budget budget = with_limits({{"a", 10}, {"b", 10}, {"c", 10}});
  CHECK(charge(budget, {{"a", 10}, {"b", 8}, {"c", 1}}) ==
        BudgetNews{.warned = {"a", "b"}, .breached = {"a"}});
}

TEST_CASE("a charge is applied whole or not at all") {
  Budget budget;
  for (std::size_t i = 0; i < budget_dimensions_max; ++i)
    charge(budget, {{"d" + std::to_string(i), 1}});
  const Budget before = budget;
  const auto refused = budget.charge({{"d0", 5}, {"one_too_many", 1}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "a budget has at most 64 dimensions");
  CHECK(budget == before);
  CHECK(budget.charge({{"d0", 5}}));
  // There is always room for what the supervisor measures.
  CHECK(budget.charge({{"cpu_s", 1}, {"wall_s", 1}, {"fs_w_bytes", 1}}));
}

TEST_CASE("a grant lets it go on when no dimension is over any more") {
  Budget budget = with_limits({{"a", 10}, {"b", 10}});
  charge(budget, {{"a", 15}, {"b", 10}});
  CHECK(budget.is_spent());
  CHECK(budget.grant("b", 100));
  CHECK(budget.is_spent());
  CHECK(budget.grant("a", 5));  // 15 of 15: still at its limit
  CHECK(budget.is_spent());
  CHECK(budget.grant("a", 1));
  CHECK_FALSE(budget.is_spent());
  CHECK(budget.dimensions().at("a") ==
        BudgetState{.limit = 10, .granted = 6, .used = 15, .warned = true, .breached = false});
  CHECK(charge(budget, {{"a", 1}}) == BudgetNews{.warned = {}, .breached = {"a"}});
}

TEST_CASE("after a grant there is a new warning and a new breach") {
  Budget budget = with_limits({{"a", 10}});
  charge(budget, {{"a", 10}});
  REQUIRE(budget.grant("a", 90));
  CHECK_FALSE(budget.dimensions().at("a").warned);
  CHECK(charge(budget, {{"a", 70}}) == BudgetNews{.warned = {"a"}, .breached = {}});
  CHECK(charge(budget, {{"a", 20}}) == BudgetNews{.warned = {}, .breached = {"a"}});
}

TEST_CASE("nothing is granted where there is no limit, and no amount that is none") {
  Budget budget = with_limits({{"a", 10}});
  charge(budget, {{"b", 1}});
  CHECK(budget.grant("b", 1).error().message == "'b' has no limit here: there is nothing to grant");
  CHECK_FALSE(budget.grant("none", 1));
  CHECK(budget.dimensions().count("none") == 0);
  CHECK_FALSE(budget.grant("a", 0));
  CHECK_FALSE(budget.grant("a", kernel::budget_amount_max + 1));
  CHECK(budget.grant("a", kernel::budget_amount_max));
}

TEST_CASE("new limits keep what was used and granted, and tell what they bring about") {
  Budget budget = with_limits({{"a", 100}, {"b", 10}});
  charge(budget, {{"a", 50}, {"b", 10}});
  REQUIRE(budget.grant("a", 10));
  CHECK(budget.set_limits({{"a", 40}, {"b", 20}}) ==
        BudgetNews{.warned = {"a"}, .breached = {"a"}});
  CHECK(budget.dimensions().at("a").used == 50);
  CHECK(budget.dimensions().at("a").granted == 10);
  CHECK_FALSE(budget.dimensions().at("b").breached);
  CHECK(budget.set_limits({{"a", 40}, {"b", 20}}).empty());
  CHECK(budget.set_limits({}).empty());
  CHECK_FALSE(budget.is_spent());
  CHECK(budget.dimensions().at("a").may_use() == 0);
}

TEST_CASE("amounts that are too large stay at the most that there is") {
  Budget budget = with_limits({{"a", 10}});
  charge(budget, {{"a", kernel::budget_amount_max}});
  for (int i = 0; i < 2000; ++i) charge(budget, {{"a", kernel::budget_amount_max}});
  CHECK(budget.dimensions().at("a").used == most);
  charge(budget, {{"b", std::numeric_limits<std::uint64_t>::max()}});
  CHECK(budget.dimensions().at("b").used == most);
  for (int i = 0; i < 2000; ++i) CHECK(budget.grant("a", kernel::budget_amount_max));
  CHECK(budget.dimensions().at("a").granted == most);
  CHECK(budget.dimensions().at("a").may_use() == most);
}

TEST_CASE("a budget comes back from its rows, and tells nothing twice") {
  Budget budget = with_limits({{"a", 10}, {"b", 10}});
  charge(budget, {{"a", 8}, {"b", 12}, {"c", 3}});
  REQUIRE(budget.grant("a", 1));
  const auto rows = budget.rows("x");
  REQUIRE(rows.size() == 3);
  CHECK(rows[0] == BudgetRow{.agent = "x",
                             .dimension = "a",
                             .limit = 10,
                             .granted = 1,
                             .used = 8,
                             .warned = false,
                             .breached = false});
  Budget restored(rows);
  CHECK(restored == budget);
  CHECK(restored.set_limits({{"a", 10}, {"b", 10}}).empty());
  CHECK(restored.is_spent());
}

TEST_CASE("over random charges, grants and limits the flags are what the numbers say") {
  std::mt19937 random(GENERATE(range(1u, 11u)));
  const auto below = [&](std::uint64_t n) { return random() % n; };
  Budget budget;
  std::map<std::string, std::uint64_t> used;
  for (int step = 0; step < 2000; ++step) {
    const std::string dimension(1, static_cast<char>('a' + below(4)));
    const Budget before = budget;
    BudgetNews news;
    switch (below(8)) {
      case 0:
        if (const auto granted = budget.grant(dimension, 1 + below(500))) news = *granted;
        break;
      case 1: {
        BudgetLimits limits;
        for (const char* name : {"a", "b", "c"})
          if (below(2) == 0) limits[name] = 1 + below(5000);
        news = budget.set_limits(limits);
        break;
      }
      default: {
        const Charges charges = {{dimension, below(50)}, {"a", below(50)}};
        news = charge(budget, charges);
        for (const auto& [name, amount] : charges) used[name] += amount;
      }
    }
    for (const auto& [name, state] : budget.dimensions()) {
      const std::int64_t may_use = state.may_use();
      CHECK(state.used == static_cast<std::int64_t>(used[name]));
      CHECK(state.breached == (may_use > 0 && state.used >= may_use));
      CHECK(state.warned == (may_use > 0 && state.used * 10 >= may_use * 8));
      const auto at = before.dimensions().find(name);
      const bool was_breached = at != before.dimensions().end() && at->second.breached;
      const bool is_told = std::count(news.breached.begin(), news.breached.end(), name) == 1;
      CHECK(is_told == (state.breached && !was_breached));
    }
  }
}
