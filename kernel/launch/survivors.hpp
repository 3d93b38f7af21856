#pragma once
// Ending everything that a run left behind, and proving it.

#include "kernel/confine/launch_wire.hpp"

namespace paddock::launch {

// Adds the CPU time and peak memory of every child reaped so far, and of what they had reaped.
void add_usage(kernel::ControlMessage& message);

// Kills every descendant and reaps it. When it returns, waitid has said ECHILD: this process, a
// subreaper or the init of a PID namespace, has no descendant left. Then reports all_gone.
void kill_and_reap_all(bool asked_for_socket = false);

}  // namespace paddock::launch
