#pragma once
// The tree of processes as /proc shows it. It changes while it is read: callers repeat until the
// kernel itself says that nobody is left.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace paddock::kernel {

std::vector<pid_t> children_of(pid_t pid);

// CPU time of the process itself, without its children, in steps of a clock tick (10 ms). Also of a
// zombie; 0 if there is no such process.
std::uint64_t own_cpu_us(pid_t pid);

// SIGKILL to every living process below `root`, or to `root` and every one below it. One pass;
// returns how many it signalled.
std::size_t kill_descendants(pid_t root);
std::size_t kill_tree(pid_t root);

}  // namespace paddock::kernel
