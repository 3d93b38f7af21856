#include "supervisor/agents/log_line.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "supervisor/runs/encoding.hpp"

namespace paddock::supervisor {

std::string to_json(const LogLine& line) {
  using nlohmann::ordered_json;
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(line.at.time_since_epoch()).count();
  ordered_json object = {
      {"at", fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                         fmt::gmtime(std::chrono::system_clock::to_time_t(line.at)),
                         milliseconds % 1000)},
      {"run", line.run},
      {"stream", line.stream}};
  if (!line.level.empty()) object["level"] = line.level;
  if (is_utf8(line.text)) {
    object["text"] = line.text;
  } else {
    object["base64"] = to_base64(line.text);
  }
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace paddock::supervisor
