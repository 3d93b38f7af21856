#pragma once
// The tree of processes as /proc shows it, for the supervisor's side.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/base/process_walk.hpp"

namespace paddock::kernel {

std::vector<pid_t> children_of(pid_t pid);

struct ProcessStat {
  char state = 0;  // as in /proc/PID/stat: 'R', 'S', 'T' ...
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  std::uint64_t own_cpu_us = 0;       // of all its threads, in whole ticks of the clock
  std::uint64_t children_cpu_us = 0;  // of the children that it has waited for, the same
  std::uint64_t start_ticks = 0;      // since the boot: field 22 of /proc/PID/stat
  std::uint64_t resident_bytes = 0;   // memory that it has at the moment, shared pages included

  bool operator==(const ProcessStat&) const = default;
};

// Absent: there is no such process.
std::optional<ProcessStat> stat_of(pid_t pid);

// Is `pid` the process `root` or one below it?
bool is_in_tree(pid_t pid, pid_t root);

struct TreeCpu {
  std::uint64_t used_us = 0;          // by `root`, all below it and all that they have waited for
  std::uint64_t longest_wait_us = 0;  // of one living thread: ready to run, and without a CPU
  bool gives_way = false;  // a living thread has a lower priority than `root`: it lets others go
                           // first of its own accord
};

// Absent if the tree has more threads than can be looked at in a few milliseconds: part of the
// numbers would say something else than all of them.
std::optional<TreeCpu> cpu_of_tree(pid_t root);

}  // namespace paddock::kernel
