#include "kernel/policy/units.hpp"

#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace paddock::kernel {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<Unit, 11> byte_units{{
    {"", 1},
    {"B", 1},
    {"kB", 1'000},
    {"KB", 1'000},
    {"MB", 1'000'000},
    {"GB", 1'000'000'000},
    {"TB", 1'000'000'000'000},
    {"KiB", std::uint64_t{1} << 10},
    {"MiB", std::uint64_t{1} << 20},
    {"GiB", std::uint64_t{1} << 30},
    {"TiB", std::uint64_t{1} << 40},
}};

// Factors are milliseconds. A number without a unit is seconds.
constexpr std::array<Unit, 5> time_units{{
    {"", 1'000},
    {"ms", 1},
    {"s", 1'000},
    {"m", 60'000},
    {"h", 3'600'000},
}};

// More digits than this say nothing, and with them fraction * factor could overflow:
// 10^6 * 2^40 < 2^64.
constexpr std::size_t fraction_digits_max = 6;

// "1.5GiB" taken apart, not yet multiplied out.
struct Quantity {
  std::uint64_t whole = 0;
  std::uint64_t fraction = 0;        // the digits behind the point, as a number
  std::uint64_t fraction_scale = 1;  // 10 to the number of those digits
  bool has_fraction = false;
  std::string_view unit;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t count_digits(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  return count;
}

std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char digit : digits) {
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, static_cast<std::uint64_t>(digit - '0'), &value)) {
      return std::nullopt;
    }
  }
  return value;
}

std::optional<Quantity> split(std::string_view text) {
  Quantity quantity;
  const std::size_t whole_digits = count_digits(text);
  if (whole_digits == 0) return std::nullopt;
  const auto whole = number_of(text.substr(0, whole_digits));
  if (!whole) return std::nullopt;
  quantity.whole = *whole;
  text.remove_prefix(whole_digits);

  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::size_t digits = count_digits(text);
    if (digits == 0 || digits > fraction_digits_max) return std::nullopt;
    quantity.fraction = number_of(text.substr(0, digits)).value_or(0);
    for (std::size_t i = 0; i < digits; ++i) quantity.fraction_scale *= 10;
    quantity.has_fraction = true;
    text.remove_prefix(digits);
  }
  quantity.unit = text;
  return quantity;
}

template <std::size_t N>
std::optional<std::uint64_t> factor_of(const std::array<Unit, N>& units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit.factor;
  }
  return std::nullopt;
}

// Rounds down: a limit may come out tighter than written, never looser.
std::optional<std::uint64_t> multiply(const Quantity& quantity, std::uint64_t factor) {
  std::uint64_t value = 0;
  if (__builtin_mul_overflow(quantity.whole, factor, &value)) return std::nullopt;
  const std::uint64_t part = quantity.fraction * factor / quantity.fraction_scale;
  if (__builtin_add_overflow(value, part, &value)) return std::nullopt;
  return value;
}

tl::unexpected<Error> not_a_size(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid_request, fmt::format("size '{}' {}", text, why));
}

tl::unexpected<Error> not_a_duration(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid_request, fmt::format("time '{}' {}", text, why));
}

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
  const auto quantity = split(text);
  if (!quantity) return not_a_size(text, "is not a number of bytes; write 4096 or \"512MiB\"");
  const auto factor = factor_of(byte_units, quantity->unit);
  if (!factor) {
    return not_a_size(text, "has an unknown unit; use B, KiB, MiB, GiB, TiB, kB, MB, GB or TB");
  }
  if (quantity->has_fraction && *factor == 1) return not_a_size(text, "is not a whole number");
  const auto value = multiply(*quantity, *factor);
  if (!value) return not_a_size(text, "is too large");
  return *value;
}

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto quantity = split(text);
  if (!quantity) return not_a_duration(text, "is not a time; write 30, \"1.5s\" or \"250ms\"");
  const auto factor = factor_of(time_units, quantity->unit);
  if (!factor) return not_a_duration(text, "has an unknown unit; use ms, s, m or h");
  const auto value = multiply(*quantity, *factor);
  if (!value || *value > std::uint64_t{duration_max.count()})
    return not_a_duration(text, "is above 366 days");
  if (*value == 0) return not_a_duration(text, "is below 1ms");
  return std::chrono::milliseconds(static_cast<std::int64_t>(*value));
}

std::string format_count(std::uint64_t count) {
  return std::to_string(count);
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 4> largest_first{"TiB", "GiB", "MiB", "KiB"};
  for (const std::string_view name : largest_first) {
    const std::uint64_t factor = *factor_of(byte_units, name);
    if (bytes != 0 && bytes % factor == 0) return fmt::format("{}{}", bytes / factor, name);
  }
  return fmt::format("{}B", bytes);
}

std::string readable_bytes(std::uint64_t bytes) {
  double value = static_cast<double>(bytes);
  const char* unit = "B";
  for (const char* larger : {"KiB", "MiB", "GiB", "TiB"}) {
    if (value < 1024) break;
    value /= 1024;
    unit = larger;
  }
  const bool is_whole = value == std::floor(value);
  return is_whole ? fmt::format("{:.0f} {}", value, unit) : fmt::format("{:.1f} {}", value, unit);
}

std::string readable_seconds(double seconds) {
  if (seconds < 1) return fmt::format("{:.3f} s", seconds);
  return seconds < 60 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

std::string format_duration(std::chrono::milliseconds duration) {
  const std::int64_t ms = duration.count();
  if (ms < 1000) return fmt::format("{}ms", ms);
  std::string text = fmt::format("{}.{:03}", ms / 1000, ms % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "s";
}

}  // namespace paddock::kernel
