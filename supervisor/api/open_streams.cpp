#include "supervisor/api/open_streams.hpp"

#include <utility>

namespace paddock::supervisor {

void OpenStreams::forget_closed() {
  std::erase_if(streams_, [](const Stream& stream) { return !stream.exchange.is_open(); });
}

void OpenStreams::add(const Exchange& exchange, std::function<bool()> is_allowed,
                      std::function<void()> end) {
  forget_closed();
  streams_.push_back({exchange, std::move(is_allowed), std::move(end)});
}

void OpenStreams::judge() {
  forget_closed();
  for (const Stream& stream : streams_)
    if (!stream.is_allowed()) stream.end();
  forget_closed();
}

}  // namespace paddock::supervisor
