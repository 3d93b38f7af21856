#pragma once
// The files that come out of a step, into its channel.

#include "supervisor/runtimes/step_wire.hpp"

namespace paddock::step {

// `names`: those of the wanted files. What is not there, is no regular file, changes meanwhile or
// has no room is left out.
void collect(int channel, const supervisor::StepHeader& header, char* const* names);

}  // namespace paddock::step
