#pragma once
// The moment between clone3 and execveat: a child that shares this process's memory, and this
// thread waits for it (vfork). Copying the page tables of a supervisor, and the page faults of both
// sides after it, would cost more than all else of a spawn, and the more the larger it is.

#include <sys/types.h>

#include <utility>
#include <vector>

#include "kernel/base/error.hpp"

namespace paddock::kernel {

// Source descriptor for each descriptor number of the child.
using Wiring = std::vector<std::pair<int, int>>;  // (number in the child, source here)

struct ChildSide {
  const Wiring* wiring;
  const char* role;  // argv[1] of paddock-launch
  const char* run;   // argv[2]: the run's name
};

// Returns when the child has executed paddock-launch, or has said on its control socket why not.
// `cgroup_directory` is -1 or an open leaf. Fails if there is no child.
Result<pid_t> start_child(const ChildSide& child, int cgroup_directory, int* pidfd);

}  // namespace paddock::kernel
