#pragma once
// StoppedTree: processes that stand still because this process has stopped them (SIGSTOP), for runs
// that have no cgroup to freeze.

#include <sys/types.h>

#include <vector>

#include "kernel/base/process_mark.hpp"

namespace paddock::kernel {

class StoppedTree {
 public:
  // Stops all below `root`, and not `root`. What it forks meanwhile is found by looking again.
  // False if it forks faster than that; then some of it is stopped.
  bool stop_below(pid_t root);

  // Lets go on what was stopped here. What had stopped itself before stays as it was.
  void let_go();

 private:
  std::vector<ProcessMark> stopped_;
};

}  // namespace paddock::kernel
