#pragma once
// MessagePace: how fast the messages of one agent are taken. To understand a message costs the loop
// far more than to read it, and all other agents and clients wait meanwhile. Pure.

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace paddock::supervisor {

// What is saved up is at most one second's worth.
constexpr double messages_per_second_max = 1'000;
constexpr double message_bytes_per_message = 1'024;  // a long one counts as several

class MessagePace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void take(std::size_t message_bytes) {
    left_ -= 1 + static_cast<double>(message_bytes) / message_bytes_per_message;
  }

  // How long nothing more may be read, after what was taken until `now`; 0: go on.
  std::chrono::milliseconds wait(Time now) {
    const std::chrono::duration<double> since = now - at_;
    at_ = now;
    left_ = std::min(messages_per_second_max, left_ + since.count() * messages_per_second_max);
    if (left_ >= 0) return std::chrono::milliseconds(0);
    return std::chrono::ceil<std::chrono::milliseconds>(
        std::chrono::duration<double>(-left_ / messages_per_second_max));
  }

 private:
  double left_ = messages_per_second_max;
  Time at_ = std::chrono::steady_clock::now();
};

}  // namespace paddock::supervisor
