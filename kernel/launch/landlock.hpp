#pragma once
// Landlock, set by the agent's process on itself.

#include <stdint.h>

#include "kernel/confine/launch_wire.hpp"

namespace paddock::launch {

// Ends the process if the kernel refuses any part of it. Does nothing if the spec has no rules.
void restrict_with_landlock(const kernel::SpecView& spec);

// Tries what Landlock should now refuse: kernel::landlock_seen_* bits of what it did refuse.
uint32_t landlock_seen();

}  // namespace paddock::launch
