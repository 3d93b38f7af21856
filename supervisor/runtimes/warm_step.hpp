#pragma once
// A step's run as a fork of an interpreter: of a runtime whose command is an interpreter and the
// file that the code is.

#include <memory>
#include <string_view>

#include "supervisor/runtimes/runtime.hpp"

namespace paddock::supervisor {

// supervisor/runtimes/program/step.py as it stands there. The build puts it in.
extern const std::string_view warm_step_program;

// What runs of prepare_step(runtime.run, ...) want to be forks of. Never null: where they cannot be
// the wish says why.
std::shared_ptr<const WarmWish> warm_step_wish(const Runtime& runtime);

}  // namespace paddock::supervisor
