#pragma once
// Group-relative advantages, as the feed has them. Pure.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace paddock::supervisor {

enum class AdvantageKind {
  grpo,    // (r - mean) / (std + advantage_epsilon), std with n - 1 in its divisor
  no_std,  // r - mean
  rloo,    // r - the mean of the others
};

constexpr double advantage_epsilon = 1e-4;

std::string_view name_of(AdvantageKind kind);
std::optional<AdvantageKind> advantage_kind_named(std::string_view name);

// Of each reward its advantage. Absent rewards (invalid items) take no part and get none. Where all
// that are there are equal, or there is but one, each is exactly 0.
std::vector<std::optional<double>> advantages(std::span<const std::optional<double>> rewards,
                                              AdvantageKind kind);

}  // namespace paddock::supervisor
