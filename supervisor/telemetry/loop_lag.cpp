#include "supervisor/telemetry/loop_lag.hpp"

#include <algorithm>

namespace paddock::supervisor {
namespace {

constexpr std::chrono::milliseconds tick_interval{250};
constexpr std::chrono::milliseconds window{15'000};

}  // namespace

void RecentMaximum::add(std::chrono::nanoseconds value, Clock::time_point now) {
  if (now - begin_ >= window_) {
    before_ = now - begin_ < 2 * window_ ? now_ : std::chrono::nanoseconds(0);
    now_ = {};
    begin_ = now;
  }
  now_ = std::max(now_, value);
}

std::chrono::nanoseconds RecentMaximum::at(Clock::time_point now) const {
  if (now - begin_ >= 2 * window_) return {};
  if (now - begin_ >= window_) return now_;
  return std::max(now_, before_);
}

LoopLag::LoopLag(uv_loop_t* loop) : timer_(loop), recent_(window) {}

void LoopLag::start() {
  due_ = RecentMaximum::Clock::now() + tick_interval;
  timer_.start(tick_interval, [this] { tick(); });
}

void LoopLag::tick() {
  const auto now = RecentMaximum::Clock::now();
  recent_.add(std::max<std::chrono::nanoseconds>(now - due_, std::chrono::nanoseconds(0)), now);
  start();
}

// A loop that is late is late for the question, too: what it has missed so far counts.
std::chrono::nanoseconds LoopLag::recent() const {
  const auto now = RecentMaximum::Clock::now();
  const std::chrono::nanoseconds missed =
      due_ == RecentMaximum::Clock::time_point{} ? std::chrono::nanoseconds(0) : now - due_;
  return std::max(recent_.at(now), missed);
}

}  // namespace paddock::supervisor
