#pragma once
// Sizes and times as people write them. They are parsed and printed at the edges (TOML, argv,
// `paddock policy`); inside, sizes are std::uint64_t with _bytes in the name and times are chrono.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernel/base/error.hpp"

namespace paddock::kernel {

// The longest time that can be asked for; beyond it, somebody meant "no limit".
constexpr std::chrono::milliseconds duration_max = std::chrono::hours(366 * 24);

// "512MiB", "1GiB", "64KiB", "10MB" (decimal), "4096" or "4096B". Digits and one optional fraction
// of at most six digits ("1.5GiB"), rounded down to bytes. Fails with invalid_request on anything
// else: negative, overflow, unknown unit. "512M" is refused, because people disagree about it.
Result<std::uint64_t> parse_bytes(std::string_view text);

// "1.5s", "250ms", "2m", "1h", or a bare number of seconds, rounded down to milliseconds. At least
// 1 ms, at most 366 days; fails with invalid_request otherwise.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// Both are exact: parsing the text gives the value back (a duration's from 1 ms on).
std::string format_count(std::uint64_t count);                    // "4097"
std::string format_bytes(std::uint64_t bytes);                    // "512MiB", "4097B"
std::string format_duration(std::chrono::milliseconds duration);  // "1.5s", "250ms", "900s"

// Short, and not exact.
std::string readable_bytes(std::uint64_t bytes);  // "512 MiB", "1.5 KiB", "17 B"
std::string readable_seconds(double seconds);     // "0.021 s", "1.0 s", "75 s"

constexpr double seconds_in(std::chrono::milliseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace paddock::kernel
