#include "supervisor/verify/advantages.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <numeric>

namespace paddock::supervisor {
namespace {

constexpr std::array kinds = {AdvantageKind::grpo, AdvantageKind::no_std, AdvantageKind::rloo};

std::vector<double> present(std::span<const std::optional<double>> rewards) {
  std::vector<double> numbers;
  for (const auto& reward : rewards) {
    if (!reward) continue;
    assert(std::isfinite(*reward));  // a quotient of two counts
    numbers.push_back(*reward);
  }
  return numbers;
}

// What each differs from the mean. Twice: what the first sum has lost is in the differences to it.
std::vector<double> differences(const std::vector<double>& numbers) {
  const auto count = static_cast<double>(numbers.size());
  const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count;
  std::vector<double> result;
  result.reserve(numbers.size());
  for (const double number : numbers) result.push_back(number - mean);
  const double rest = std::accumulate(result.begin(), result.end(), 0.0) / count;
  for (double& difference : result) difference -= rest;
  return result;
}

double sample_deviation(const std::vector<double>& differences) {
  const double squares =
      std::inner_product(differences.begin(), differences.end(), differences.begin(), 0.0);
  return std::sqrt(squares / static_cast<double>(differences.size() - 1));
}

double divisor(const std::vector<double>& differences, AdvantageKind kind) {
  const auto count = static_cast<double>(differences.size());
  switch (kind) {
    case AdvantageKind::grpo:
      return sample_deviation(differences) + advantage_epsilon;
    case AdvantageKind::no_std:
      return 1;
    case AdvantageKind::rloo:
      return (count - 1) / count;  // r - (sum - r) / (n - 1) is this without the sum
  }
  return 1;
}

bool are_equal(const std::vector<double>& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) == numbers.end();
}

}  // namespace

std::string_view name_of(AdvantageKind kind) {
  switch (kind) {
    case AdvantageKind::grpo:
      return "grpo";
    case AdvantageKind::no_std:
      return "no_std";
    case AdvantageKind::rloo:
      return "rloo";
  }
  return "";
}

std::optional<AdvantageKind> advantage_kind_named(std::string_view name) {
  for (const AdvantageKind kind : kinds)
    if (name == name_of(kind)) return kind;
  return std::nullopt;
}

std::vector<std::optional<double>> advantages(std::span<const std::optional<double>> rewards,
                                              AdvantageKind kind) {
  std::vector<double> numbers = present(rewards);
  if (are_equal(numbers)) {
    std::fill(numbers.begin(), numbers.end(), 0.0);  // and not what rounding leaves
  } else {
    numbers = differences(numbers);
    const double by = divisor(numbers, kind);
    for (double& number : numbers) number /= by;
  }
  std::vector<std::optional<double>> result;
  result.reserve(rewards.size());
  auto next = numbers.begin();
  for (const auto& reward : rewards)
    result.push_back(reward ? std::optional(*next++) : std::nullopt);
  return result;
}

}  // namespace paddock::supervisor
