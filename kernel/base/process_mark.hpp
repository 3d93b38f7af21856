#pragma once
// ProcessMark: a process beyond doubt. A pid alone is used again; with its start time and the boot
// it is not.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "kernel/base/fd.hpp"
#include "kernel/base/process_tree.hpp"

namespace paddock::kernel {

struct ProcessMark {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat
  std::string boot_id;            // /proc/sys/kernel/random/boot_id

  bool operator==(const ProcessMark&) const = default;
};

// Absent: there is no such process. Also of a zombie.
std::optional<ProcessMark> mark_of(pid_t pid);
// Of a process whose stat has just been read.
ProcessMark mark_of(pid_t pid, const ProcessStat& stat);

// Is the marked process still there, if only as a zombie? Only for a look: before a signal use
// open_marked.
bool is_same_process(const ProcessMark& mark);

// A pidfd of the marked process, for a signal that can reach nobody else: it is opened first and
// the mark compared then, when the pid cannot change hands unnoticed. Empty: the process is gone.
Fd open_marked(const ProcessMark& mark);

}  // namespace paddock::kernel
