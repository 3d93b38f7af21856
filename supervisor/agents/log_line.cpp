#include "supervisor/agents/log_line.hpp"

#include <nlohmann/json.hpp>

#include "supervisor/json/dump.hpp"
#include "supervisor/json/encoding.hpp"
#include "supervisor/telemetry/timestamp.hpp"

namespace paddock::supervisor {

std::string to_json(const LogLine& line) {
  using nlohmann::ordered_json;
  ordered_json object = {{"at", timestamp(line.at)}, {"run", line.run}, {"stream", line.stream}};
  if (!line.level.empty()) object["level"] = line.level;
  if (is_utf8(line.text)) {
    object["text"] = line.text;
  } else {
    object["base64"] = to_base64(line.text);
  }
  return dump_line(object);
}

}  // namespace paddock::supervisor
