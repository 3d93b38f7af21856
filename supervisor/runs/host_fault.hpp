#pragma once
// Whose doing the end of a run was.

#include "kernel/run/outcome.hpp"

namespace paddock::supervisor {

// True if the host, the daemon or its operator ended a run so: then it says nothing about the run's
// program.
bool is_host_fault(kernel::Cause cause);

}  // namespace paddock::supervisor
