#include "supervisor/telemetry/log.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

using namespace paddock::supervisor;
using nlohmann::json;

namespace {

LogRecord record(std::string message) {
  return {.at = std::chrono::system_clock::time_point(std::chrono::milliseconds(1'767'225'600'042)),
          .level = LogLevel::warning,
          .event = "config.mistake",
          .message = std::move(message),
          .fields = {}};
}

std::string text(std::string message) {
  return format_line(record(std::move(message)), LogFormat::text, LogTarget::stream);
}

}  // namespace

TEST_CASE("a line of text has the time, the level and the message") {
  CHECK(text("a.toml:3:1: unknown key") ==
        "2026-01-01T00:00:00.042Z warning a.toml:3:1: unknown key");
}

TEST_CASE("in the journal the level is a prefix and the time is the journal's") {
  CHECK(format_line(record("text"), LogFormat::text, LogTarget::journal) == "<4>text");
}

TEST_CASE("a line of JSON is an object with a stable event and fields of their types") {
  LogRecord one = record("reloaded \"all\"");
  one.fields = {{"file", "a b"}, {"line", std::int64_t{3}}, {"share", 0.5}, {"stale", true}};
  const std::string line = format_line(one, LogFormat::json, LogTarget::stream);
  CHECK(json::parse(line) == json({{"at", "2026-01-01T00:00:00.042Z"},
                                   {"level", "warning"},
                                   {"event", "config.mistake"},
                                   {"message", "reloaded \"all\""},
                                   {"file", "a b"},
                                   {"line", 3},
                                   {"share", 0.5},
                                   {"stale", true}}));
}

// Goal: what an agent names a file, or a client a profile, cannot look like a line of the daemon.
TEST_CASE("text from elsewhere cannot forge a line, in neither form") {
  const std::string forged =
      "x\n2026-01-01T00:00:00.000Z info all is well\r\x1b[2J\u2028\u0085\x7f";
  const std::string line = text(forged);
  CHECK(line.find_first_of("\n\r\x1b\x7f") == std::string::npos);
  CHECK(line.find("\u2028") == std::string::npos);
  CHECK(line.find("\u0085") == std::string::npos);
  CHECK(line.find("x\\x0a2026") != std::string::npos);
  const std::string object = format_line(record(forged), LogFormat::json, LogTarget::stream);
  CHECK(object.find_first_of("\n\r\x1b\x7f") == std::string::npos);
  CHECK(object.find("\u2028") == std::string::npos);
  CHECK(json::parse(object)["message"] == forged);
}

TEST_CASE("a field cannot take the place of the event, and bytes that are no text do no harm") {
  LogRecord one = record("\xff\xfe");
  one.fields = {{"event", "daemon.stopped"}};
  const std::string line = format_line(one, LogFormat::json, LogTarget::stream);
  CHECK(json::parse(line)["event"] == "config.mistake");
}

TEST_CASE("letters outside ASCII stay as they are in text") {
  CHECK(one_line("größe 日本") == "größe 日本");
}
