#pragma once
// StrayWatch looks for processes that escaped their launcher, as long as there are runs.

#include <sys/types.h>

#include <functional>

#include "supervisor/loop/timer.hpp"

namespace paddock::supervisor {

class StrayWatch {
 public:
  // `is_launcher`: of a run that is alive. `has_runs`: there is any.
  StrayWatch(uv_loop_t* loop, std::function<bool(pid_t)> is_launcher,
             std::function<bool()> has_runs);
  StrayWatch(const StrayWatch&) = delete;
  StrayWatch& operator=(const StrayWatch&) = delete;

  void run_started();
  void look_now();  // a run has ended in a way that may have left some

 private:
  Timer timer_;
  std::function<bool(pid_t)> is_launcher_;
  std::function<bool()> has_runs_;
};

// Kills every child of this process, and waits for their end for a few seconds: for the end of it.
void bury_all_strays();

}  // namespace paddock::supervisor
