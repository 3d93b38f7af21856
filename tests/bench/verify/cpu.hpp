#pragma once
// CPU time and memory of processes, seen from outside.

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace bench {

// The process and all below it: what lives, and what its parent has waited for. In whole ticks of
// the clock, so of a process that lives for long.
std::uint64_t tree_cpu_us(pid_t pid);
// The process alone, the same.
std::uint64_t own_cpu_us(pid_t pid);
// Exact: this process, and the children that it has waited for.
std::uint64_t client_cpu_us();
std::uint64_t waited_children_cpu_us();

// Never below 0: a look at a tree misses what passes from a child to its parent meanwhile.
std::uint64_t used_between(std::uint64_t before_us, std::uint64_t after_us);

// From now on whoever loses its parent below this process becomes its child, so that its time is
// not lost: bubblewrap does not wait for its own child.
void adopt_orphans();
// Waits, a little, for the children that are none of these.
void reap_children_except(const std::vector<pid_t>& known);

std::uint64_t resident_bytes(pid_t pid);

}  // namespace bench
