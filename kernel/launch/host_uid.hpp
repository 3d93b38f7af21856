#pragma once
// The host uid of a run whose supervisor was started as root.

#include <stdint.h>

namespace paddock::launch {

// Becomes `uid` and the group of that number, with no other group and an empty bounding set of
// capabilities. Ends the process if it cannot. Here and not in the supervisor's child before it
// executes this program: that child shares the supervisor's memory.
void become_host_uid(uint64_t uid);

}  // namespace paddock::launch
