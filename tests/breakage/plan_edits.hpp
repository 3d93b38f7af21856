#pragma once
// Controls that are data: a plan that goes without one. Pure.

#include <string>
#include <vector>

#include "kernel/run/plan.hpp"

namespace paddock::breakage {

// The plan that is started instead of `plan`, to which the receipt is held all the same.
kernel::Plan without(const std::string& control, kernel::Plan plan);

}  // namespace paddock::breakage
