#pragma once
// HostMemory: whether the kernel has killed processes of this host because no memory was left. It
// counts them and does not say whose they were; a run's leaf with a memory controller does, and
// then nobody has to ask here.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace paddock::kernel {

class HostMemory {
 public:
  // `counters`: the kernel's, with a line "oom_kill N".
  explicit HostMemory(std::string counters = "/proc/vmstat");

  // True if it may have done so after `since`. Reading the counters takes tenths of a millisecond:
  // ask where somebody was killed. So they are not read in between, and the answer is about the
  // time since somebody has asked before.
  bool may_have_killed_since(std::chrono::steady_clock::time_point since);

 private:
  std::string counters_;
  std::uint64_t kills_;
  // When there were more than before.
  std::optional<std::chrono::steady_clock::time_point> seen_at_;
};

}  // namespace paddock::kernel
