#include "supervisor/telemetry/timestamp.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace paddock::supervisor {

std::string timestamp(std::chrono::system_clock::time_point at) {
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(at)), milliseconds);
}

}  // namespace paddock::supervisor
