#pragma once
// The run's init: the parent of the agent's process group. PID 1 inside a PID namespace, a
// subreaper outside. It opens the gate, forwards TERM, reports how the agent ended, and then kills
// and reaps whatever is left.

#include "kernel/confine/launch_wire.hpp"

namespace paddock::launch {

// Returns twice, as fork does: in the agent's process when its gate is open, with a descriptor for
// execute_program; in the init, when no descendant is left, with -1.
int run_init(const kernel::SpecView& spec);

}  // namespace paddock::launch
