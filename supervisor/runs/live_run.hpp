#pragma once
// LiveRun drives one kernel::Run on the libuv loop: it watches the descriptors and the time that
// the run waits for, and tells it when they are ready. No decision is taken here.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "kernel/run/run.hpp"
#include "supervisor/loop/poll.hpp"
#include "supervisor/loop/timer.hpp"

namespace paddock::supervisor {

class LiveRun {
 public:
  // `on_change` is called from the loop after each event, until the run is finished and once then.
  // It may destroy the LiveRun.
  LiveRun(uv_loop_t* loop, std::unique_ptr<kernel::Run> run, std::function<void()> on_change);
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  // For whoever acts on the run from outside its events. Call refresh() afterwards.
  kernel::Run& run() { return *run_; }
  const kernel::Run& run() const { return *run_; }
  void refresh();

 private:
  void ready(int fd);
  void changed();
  void watch_descriptors();
  void watch_time();
  void look_at_unwatched();

  struct Watched {
    std::unique_ptr<Poll> poll;
    short events = 0;
  };

  uv_loop_t* loop_;
  std::unique_ptr<kernel::Run> run_;
  std::function<void()> on_change_;
  std::map<int, Watched> watched_;
  std::vector<kernel::Run::Watch> unwatched_;  // the loop cannot: no memory, or too many watches
  Timer timer_;
  std::optional<kernel::Clock::time_point> timer_time_;
};

}  // namespace paddock::supervisor
