#pragma once
// Every limit of the HTTP server.

#include <chrono>
#include <cstddef>
#include <functional>

#include "supervisor/http/parser.hpp"
#include "supervisor/http/response.hpp"

namespace paddock::supervisor {

struct ServerConfig {
  // Over it, a client is told 503 and disconnected. Each connection takes two descriptors.
  std::size_t connections_max = 256;
  ParserLimits parser;

  // Between two requests, and before the first one.
  std::chrono::milliseconds idle_timeout{60'000};
  // From the first byte of a request to its last; then 408.
  std::chrono::milliseconds request_timeout{30'000};
  // A client that reads nothing, or next to nothing, of what waits for it during this time is gone.
  std::chrono::milliseconds write_stall_timeout{30'000};
  // After a refused request: how long its rest is read and thrown away, so that the client gets to
  // read the refusal instead of failing in its own write.
  std::chrono::milliseconds linger_timeout{2'000};

  // A stream's write() says `full` above this; on_drained comes when half of it is left.
  std::size_t write_high_water_bytes = std::size_t{256} * 1024;

  // Makes the response to a request that no handler sees. The default is one line of text.
  std::function<Response(const HttpError&)> error_response;
};

}  // namespace paddock::supervisor
