#pragma once
// The filters under test, and the names of the calls that they judge.

#include <linux/filter.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/policy/profile.hpp"

namespace paddock::tests {

std::vector<sock_filter> filter_of(kernel::SeccompUse use);

// By libseccomp's table up to 449, which every version that is packaged has, by our own from there.
std::optional<std::string> syscall_name(std::uint32_t number);
std::optional<std::uint32_t> syscall_number(std::string_view name);

}  // namespace paddock::tests
