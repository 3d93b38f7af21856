#include "supervisor/verify/advantages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "reference_vectors.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using reference::Numbers;

namespace {

constexpr std::array kinds = {AdvantageKind::grpo, AdvantageKind::no_std, AdvantageKind::rloo};

// Of numbers up to 1: some units in the last place, and as much of what a division makes of them.
void check_near(const Numbers& found, const Numbers& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO(i);
    REQUIRE(found[i].has_value() == wanted[i].has_value());
    if (!found[i]) continue;
    CHECK(std::abs(*found[i] - *wanted[i]) <= 1e-14 * std::max(1.0, std::abs(*wanted[i])));
  }
}

Numbers random_rewards(std::mt19937& source) {
  Numbers rewards(std::uniform_int_distribution<std::size_t>(0, 40)(source));
  const unsigned cases = std::uniform_int_distribution<unsigned>(1, 12)(source);
  std::uniform_int_distribution<unsigned> passed(0, cases);
  std::bernoulli_distribution is_absent(0.2);
  for (auto& reward : rewards)
    if (!is_absent(source)) reward = static_cast<double>(passed(source)) / cases;
  return rewards;
}

std::vector<double> present(const Numbers& numbers) {
  std::vector<double> result;
  for (const auto& number : numbers)
    if (number) result.push_back(*number);
  return result;
}

bool are_all_equal(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](double number) { return number == numbers.front(); });
}

}  // namespace

TEST_CASE("advantages are those of exact fractions") {
  for (const auto& vector : reference::advantage_vectors) {
    INFO(&vector - reference::advantage_vectors.data());
    check_near(advantages(vector.rewards, AdvantageKind::grpo), vector.grpo);
    check_near(advantages(vector.rewards, AdvantageKind::no_std), vector.no_std);
    check_near(advantages(vector.rewards, AdvantageKind::rloo), vector.rloo);
  }
}

TEST_CASE("rewards that hardly differ keep their difference") {
  const double low = 0.3;
  const double high = std::nextafter(low, 1.0);
  const Numbers found = advantages(Numbers{low, high}, AdvantageKind::no_std);
  CHECK(found[1] == (high - low) / 2);
  CHECK(found[0] == -(high - low) / 2);
}

TEST_CASE("equal rewards and a single one have no advantage, to the last bit") {
  for (const AdvantageKind kind : kinds) {
    for (const double reward : {0.0, 0.1, 1.0 / 3, 1.0}) {
      for (const std::size_t size : {1, 2, 3, 7, 1000}) {
        for (const auto& advantage : advantages(Numbers(size, reward), kind)) {
          REQUIRE(advantage);
          CHECK(*advantage == 0);
          CHECK_FALSE(std::signbit(*advantage));
        }
      }
    }
    CHECK(advantages(Numbers{reference::none, 0.7, reference::none}, kind) ==
          Numbers{reference::none, 0.0, reference::none});
  }
}

TEST_CASE("whatever the rewards, absent ones stay absent and change nothing for the others") {
  std::mt19937 source(1);
  for (int round = 0; round < 500; ++round) {
    const Numbers rewards = random_rewards(source);
    const std::vector<double> numbers = present(rewards);
    const Numbers without(numbers.begin(), numbers.end());
    for (const AdvantageKind kind : kinds) {
      const Numbers found = advantages(rewards, kind);
      REQUIRE(found.size() == rewards.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        CHECK(found[i].has_value() == rewards[i].has_value());
      const std::vector<double> kept = present(found);
      CHECK(advantages(without, kind) == Numbers(kept.begin(), kept.end()));
    }
  }
}

TEST_CASE("whatever the rewards, advantages add up to nothing and keep their order") {
  std::mt19937 source(2);
  for (int round = 0; round < 500; ++round) {
    const Numbers rewards = random_rewards(source);
    const std::vector<double> numbers = present(rewards);
    for (const AdvantageKind kind : kinds) {
      const std::vector<double> found = present(advantages(rewards, kind));
      CHECK(std::abs(std::accumulate(found.begin(), found.end(), 0.0)) < 1e-12);
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(std::isfinite(found[i]));
        for (std::size_t j = 0; j < i; ++j) {
          CHECK((numbers[i] < numbers[j]) == (found[i] < found[j]));
          CHECK((numbers[i] == numbers[j]) == (found[i] == found[j]));
        }
      }
      if (are_all_equal(numbers))
        CHECK(std::all_of(found.begin(), found.end(), [](double one) { return one == 0; }));
    }
  }
}

TEST_CASE("whatever the rewards, the deviation of grpo's advantages is one or less") {
  std::mt19937 source(3);
  for (int round = 0; round < 500; ++round) {
    const std::vector<double> found =
        present(advantages(random_rewards(source), AdvantageKind::grpo));
    if (found.size() < 2) continue;
    const double squares = std::inner_product(found.begin(), found.end(), found.begin(), 0.0);
    CHECK(squares / static_cast<double>(found.size() - 1) < 1);
  }
}

TEST_CASE("ten thousand rewards lose no more than two") {
  Numbers rewards(10'000, 0.1);
  rewards.front() = 1.0;
  const Numbers found = advantages(rewards, AdvantageKind::no_std);
  CHECK(std::abs(*found.front() - 0.9 * 0.9999) < 1e-15);
  CHECK(std::abs(*found.back() + 0.9 / 10'000) < 1e-16);
}

TEST_CASE("kinds of advantages are known by their names, and by no others") {
  for (const AdvantageKind kind : kinds) CHECK(advantage_kind_named(name_of(kind)) == kind);
  CHECK(name_of(AdvantageKind::grpo) == "grpo");
  CHECK(name_of(AdvantageKind::no_std) == "no_std");
  CHECK(name_of(AdvantageKind::rloo) == "rloo");
  for (const char* name : {"", "GRPO", "grpo ", "none"}) CHECK_FALSE(advantage_kind_named(name));
}
