#pragma once
// EventLoop owns the one loop of the daemon, and its signals.

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "kernel/base/error.hpp"
#include "supervisor/loop/uv_handle.hpp"

namespace paddock::supervisor {

class EventLoop {
 public:
  // Also makes the process ignore SIGPIPE: a client that went away is an error of the write, not
  // the end of the daemon. An ignored signal survives execve, so whoever starts a child resets it.
  static kernel::Result<std::unique_ptr<EventLoop>> create();

  // Whatever uses the loop must be gone by now; asserts that no handle is left open.
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  uv_loop_t* get() { return &loop_; }

  // Calls `on_signal` from the loop each time the process gets `signal_number` (SIGTERM, SIGINT,
  // SIGHUP). Signals that arrive together may be seen once. A second handler for the same signal
  // replaces the first.
  kernel::Result<void> handle_signal(int signal_number, std::function<void()> on_signal);

  // Returns after stop(), or when nothing is left to wait for. A handled signal counts as something
  // to wait for.
  void run();
  // Finishes the current turn of the loop, then makes run() return.
  void stop();

  // The monotonic clock, as of the start of this turn of the loop.
  std::chrono::milliseconds now() const;

 private:
  struct SignalHandler {
    int signal_number = 0;
    std::function<void()> on_signal;
    UvHandle<uv_signal_t> handle;
  };

  EventLoop() = default;
  static void on_signal(uv_signal_t* handle, int signal_number);

  uv_loop_t loop_{};
  bool initialised_ = false;
  std::vector<std::unique_ptr<SignalHandler>> signal_handlers_;
};

}  // namespace paddock::supervisor
