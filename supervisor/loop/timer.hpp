#pragma once
// Timer calls back once, after a while, unless it is stopped or started again first.

#include <chrono>
#include <functional>

#include "supervisor/loop/uv_handle.hpp"

namespace paddock::supervisor {

class Timer {
 public:
  explicit Timer(uv_loop_t* loop);
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // `on_elapsed` is called from the loop, never from here, also for 0 ms. It may start the timer
  // again, and may destroy it. A timer that was already running forgets its former call.
  void start(std::chrono::milliseconds after, std::function<void()> on_elapsed);
  void stop();
  bool is_running() const;

 private:
  static void on_timeout(uv_timer_t* timer);
  void elapse();

  UvHandle<uv_timer_t> timer_;
  std::function<void()> on_elapsed_;
};

}  // namespace paddock::supervisor
