#pragma once
// Does an output match the expected one? Pure, over bytes, in linear time.

#include <string_view>

#include "supervisor/verify/item.hpp"

namespace paddock::supervisor {

// `unordered` is for values, which the judge compares: here it is as `exact`.
bool output_matches(const Checker& checker, std::string_view expected, std::string_view actual);

}  // namespace paddock::supervisor
