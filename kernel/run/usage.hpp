#pragma once
// What a living run has used until now, for whoever looks at it again and again.

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace paddock::kernel {

struct RunUsage {
  std::uint64_t cpu_us = 0;        // of its processes, also of those that have ended
  std::uint64_t memory_bytes = 0;  // at the moment; without a memory controller the sum of what
                                   // each process has, which counts shared pages more than once
  // To files on disks. Absent: the kernel shows it to nobody, or of none of the processes to us.
  std::optional<std::uint64_t> written_bytes;
  bool complete = true;  // false: it has more processes than were looked at

  bool operator==(const RunUsage&) const = default;
};

// Of all below `root`, as /proc shows it: a few system calls for each process. The kernel adds what
// a process used to what its parent has used when it is waited for, so that nothing is lost. Of a
// process that may not be traced, such as paddock-launch itself for an ordinary user, it does not
// show what was written.
RunUsage usage_below(pid_t root);

}  // namespace paddock::kernel
