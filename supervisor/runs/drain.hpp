#pragma once
// Drain: the way to no run at all: until when runs may finish, who waits for the last one, and what
// became of the others meanwhile. The run table asks it and tells it; no run is known here.

#include <chrono>
#include <functional>
#include <vector>

#include "kernel/base/error.hpp"
#include "kernel/run/outcome.hpp"
#include "supervisor/loop/timer.hpp"

namespace paddock::supervisor {

// What became of the runs that were there when the drain began.
struct DrainResult {
  std::size_t finished = 0;       // ended for reasons of their own
  std::size_t killed = 0;         // by the drain
  std::size_t never_started = 0;  // were in the queue
  bool cancelled = false;

  bool operator==(const DrainResult&) const = default;
};

using OnDrained = std::function<void(const DrainResult&)>;

enum class DrainUntil { cancelled, end_of_daemon };

class Drain {
 public:
  explicit Drain(uv_loop_t* loop) : deadline_timer_(loop), answer_timer_(loop) {}
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;

  bool is_on() const { return is_on_; }
  bool is_over() const { return is_on_ && is_over_; }  // deadline passed, or nobody was left

  // Of two deadlines the earlier holds; whoever wants more time cancels first. `on_drained` is
  // called from the loop, once; `on_deadline` too, unless the drain is over before.
  void begin(std::chrono::milliseconds deadline, DrainUntil until, OnDrained on_drained,
             std::function<void()> on_deadline);

  // Fails with invalid_request if there is nothing to cancel, and with draining if the daemon ends.
  kernel::Result<void> cancel();

  void run_ended(bool had_process, kernel::Cause cause);
  void nobody_left();

 private:
  struct Answer {
    OnDrained on_drained;
    DrainResult result;
  };
  void answer_all();

  bool is_on_ = false;
  bool is_over_ = false;
  DrainUntil until_ = DrainUntil::cancelled;
  std::chrono::steady_clock::time_point deadline_{};
  DrainResult result_;
  std::vector<OnDrained> waiting_;
  std::vector<Answer> answers_;  // on their way
  Timer deadline_timer_;
  Timer answer_timer_;
};

}  // namespace paddock::supervisor
