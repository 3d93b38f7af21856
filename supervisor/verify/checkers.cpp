#include "supervisor/verify/checkers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

namespace paddock::supervisor {
namespace {

constexpr std::string_view white_space = " \t\n\r\f\v";

std::string_view without_last_newline(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

std::string_view without_space_at_end(std::string_view text) {
  return text.substr(0, text.find_last_not_of(white_space) + 1);
}

std::string_view take_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  return without_space_at_end(line);
}

// Empty at the end.
std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(white_space)));
  const std::string_view word = rest.substr(0, rest.find_first_of(white_space));
  rest.remove_prefix(word.size());
  return word;
}

bool same_lines(std::string_view expected, std::string_view actual) {
  expected = without_space_at_end(expected);
  actual = without_space_at_end(actual);
  while (!expected.empty() && !actual.empty())
    if (take_line(expected) != take_line(actual)) return false;
  return expected.empty() && actual.empty();
}

// As Python's float(), but for underscores, and for what is too large: two such numbers would both
// be infinite, and so the same.
std::optional<double> number_in(std::string_view word) {
  if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
  double value = 0;
  const char* const end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, value);
  if (parsed.ptr != end || word.ends_with(')')) return std::nullopt;  // "nan(...)"
  if (parsed.ec == std::errc::result_out_of_range) {
    value = std::strtod(std::string(word).c_str(), nullptr);
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  }
  if (parsed.ec != std::errc()) return std::nullopt;
  return value;
}

bool near(double expected, double actual, double epsilon) {
  if (std::isnan(expected)) return std::isnan(actual);
  // Infinite differences and bounds would make everything near.
  if (!std::isfinite(expected) || !std::isfinite(actual)) return expected == actual;
  const double difference = std::fabs(expected - actual);
  return difference <= epsilon || difference <= epsilon * std::fabs(expected);
}

bool same_word(std::string_view expected, std::string_view actual, double epsilon) {
  if (expected == actual) return true;
  const auto wanted = number_in(expected);
  const auto got = wanted ? number_in(actual) : std::nullopt;
  return got && near(*wanted, *got, epsilon);
}

template <class Same>
bool same_words(std::string_view expected, std::string_view actual, Same same) {
  while (true) {
    const std::string_view wanted = take_word(expected);
    const std::string_view got = take_word(actual);
    if (wanted.empty() || got.empty()) return wanted.empty() && got.empty();
    if (!same(wanted, got)) return false;
  }
}

}  // namespace

bool output_matches(const Checker& checker, std::string_view expected, std::string_view actual) {
  switch (checker.kind) {
    case Checker::Kind::lines:
      return same_lines(expected, actual);
    case Checker::Kind::tokens:
      return same_words(expected, actual, [](auto wanted, auto got) { return wanted == got; });
    case Checker::Kind::floating:
      return same_words(expected, actual, [&](auto wanted, auto got) {
        return same_word(wanted, got, checker.epsilon);
      });
    case Checker::Kind::exact:
    case Checker::Kind::unordered:
      break;
  }
  return without_last_newline(expected) == without_last_newline(actual);
}

}  // namespace paddock::supervisor
