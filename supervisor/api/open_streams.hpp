#pragma once
// OpenStreams: answers that go on for long, so that a reload which takes a client's rights also
// ends what it listens to.

#include <functional>
#include <vector>

#include "supervisor/http/exchange.hpp"

namespace paddock::supervisor {

class OpenStreams {
 public:
  OpenStreams() = default;
  OpenStreams(const OpenStreams&) = delete;
  OpenStreams& operator=(const OpenStreams&) = delete;

  // `is_allowed` asks again what was asked when the stream was opened; `end` says why and ends it.
  // Neither is called when the exchange is over.
  void add(const Exchange& exchange, std::function<bool()> is_allowed, std::function<void()> end);

  // After the rules have changed.
  void judge();

 private:
  struct Stream {
    Exchange exchange;
    std::function<bool()> is_allowed;
    std::function<void()> end;
  };
  void forget_closed();

  std::vector<Stream> streams_;  // each has a connection, or had one until lately
};

}  // namespace paddock::supervisor
