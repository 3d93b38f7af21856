#pragma once

#include "kernel/confine/launch_wire.hpp"

namespace paddock::launch {

// From fd_spec. The bytes that `spec` points into stay for the life of the process, which ends here
// if it cannot be read.
void read_spec(kernel::SpecView& spec);

}  // namespace paddock::launch
