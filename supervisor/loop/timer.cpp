#include "supervisor/loop/timer.hpp"

#include <algorithm>
#include <utility>

namespace paddock::supervisor {

Timer::Timer(uv_loop_t* loop) : timer_(new_timer(loop, this)) {}

void Timer::start(std::chrono::milliseconds after, std::function<void()> on_elapsed) {
  on_elapsed_ = std::move(on_elapsed);
  // libuv counts from the time it cached when this turn of the loop began. That may be long ago
  // (before the loop ran at all, at startup), and the timer would go off early by as much.
  uv_update_time(timer_->loop);
  const auto milliseconds = std::max<std::chrono::milliseconds::rep>(after.count(), 0);
  uv_timer_start(timer_.get(), on_timeout, static_cast<std::uint64_t>(milliseconds), /*repeat=*/0);
}

void Timer::stop() {
  uv_timer_stop(timer_.get());
  on_elapsed_ = nullptr;
}

bool Timer::is_running() const {
  return uv_is_active(reinterpret_cast<const uv_handle_t*>(timer_.get())) != 0;
}

void Timer::elapse() {
  // Moved out first: the call may start this timer again, or destroy it.
  const auto on_elapsed = std::exchange(on_elapsed_, nullptr);
  if (on_elapsed) on_elapsed();
}

void Timer::on_timeout(uv_timer_t* timer) {
  if (auto* owner = owner_of<Timer>(timer)) owner->elapse();
}

}  // namespace paddock::supervisor
