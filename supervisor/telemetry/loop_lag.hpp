#pragma once
// LoopLag: how late the daemon's loop is. A timer that should have fired a moment ago tells; what
// keeps it waiting keeps every client waiting.

#include <chrono>

#include "supervisor/loop/timer.hpp"

namespace paddock::supervisor {

// The largest of the values of the last `window`, give or take a window: two maxima, of this window
// and of the one before. Pure.
class RecentMaximum {
 public:
  using Clock = std::chrono::steady_clock;
  explicit RecentMaximum(std::chrono::milliseconds window) : window_(window) {}

  void add(std::chrono::nanoseconds value, Clock::time_point now);
  std::chrono::nanoseconds at(Clock::time_point now) const;

 private:
  std::chrono::milliseconds window_;
  Clock::time_point begin_{};  // of this window
  std::chrono::nanoseconds now_{0};
  std::chrono::nanoseconds before_{0};
};

class LoopLag {
 public:
  explicit LoopLag(uv_loop_t* loop);

  void start();  // when the loop begins to turn: what comes before is no lag
  std::chrono::nanoseconds recent() const;

 private:
  void tick();

  Timer timer_;
  RecentMaximum::Clock::time_point due_{};
  RecentMaximum recent_;
};

}  // namespace paddock::supervisor
