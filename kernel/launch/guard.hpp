#pragma once
// The guard: bwrap's parent, outside the sandbox. bwrap can die, hang or be killed half-way through
// its set-up and leave processes behind even with --die-with-parent; the guard is their subreaper
// and does not end before the last of them is gone.

#include "kernel/confine/launch_wire.hpp"

namespace paddock::launch {

// Returns when bwrap is gone and no descendant is left.
void run_guard(const kernel::SpecView& spec);

}  // namespace paddock::launch
