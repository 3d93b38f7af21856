#pragma once
// The tree of processes as /proc shows it, for the supervisor's side.

#include <sys/types.h>

#include <vector>

#include "kernel/base/process_walk.hpp"

namespace paddock::kernel {

std::vector<pid_t> children_of(pid_t pid);

}  // namespace paddock::kernel
