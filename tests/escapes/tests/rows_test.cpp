#include "escapes/runner/rows.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "support/catch.hpp"

using namespace paddock::escapes;

namespace {

template <class Check>
void for_each_row(const Check& check) {
  for (const Group& group : all_groups())
    for (const Row& row : group.rows) {
      INFO(row.name);
      check(row);
    }
}

bool says_something(const Expectation& expectation) {
  return expectation.words.empty() != expectation.open_because.empty();
}

}  // namespace

TEST_CASE("every attempt has one row") {
  std::set<std::string_view> names;
  for_each_row([&](const Row& row) { CHECK(names.insert(row.name).second); });
  CHECK(names.size() >= 150);
}

TEST_CASE("every row either promises to stop its attempt or says why not") {
  for_each_row([](const Row& row) {
    CHECK(says_something(row.under_default.as_root));
    CHECK(says_something(row.under_default.as_user));
    CHECK(says_something(row.under_strict));
  });
}

TEST_CASE("STRICT leaves no more open than DEFAULT") {
  for_each_row([](const Row& row) {
    if (!row.under_strict.open_because.empty())
      CHECK(!row.under_default.as_user.open_because.empty());
  });
}
