#pragma once
// The control: an attempt without any confinement, as a plain parent would start it. It must
// succeed, or the attempt proves nothing.

#include "escapes/runner/observation.hpp"
#include "escapes/runner/rows.hpp"
#include "escapes/runner/stage.hpp"

namespace paddock::escapes {

// Blocks until it is over; nothing of it is left then.
Observation run_control(Stage& stage, const Row& row, const std::string& channel);

}  // namespace paddock::escapes
