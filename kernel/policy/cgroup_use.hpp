#pragma once
// The names of CgroupUse, as TOML, JSON and `paddock policy` write them.

#include <string_view>

#include "kernel/policy/profile.hpp"

namespace paddock::kernel {

std::string_view name_of(CgroupUse use);  // "if_delegated"

}  // namespace paddock::kernel
