#pragma once
// What a command has to be a fork of: the interpreter of the runtime whose [warm] it begins with.

#include <memory>
#include <string>
#include <vector>

#include "supervisor/runtimes/runtime.hpp"

namespace paddock::supervisor {

// Never null: of a command that is no runtime's the wish says so, and its run is cold.
std::shared_ptr<const WarmWish> warm_wish_for(const Runtimes& runtimes,
                                              const std::vector<std::string>& argv);

}  // namespace paddock::supervisor
