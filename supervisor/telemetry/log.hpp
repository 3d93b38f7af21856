#pragma once
// The daemon's log on stderr: one line for each thing that happened, as text or as one JSON object.
//
// log() says what happened with a stable name and with fields. A plain spdlog call is still a line
// of the same form, with the event "message". Whatever a client or an agent wrote stays within its
// line: control characters are escaped in both forms.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::supervisor {

enum class LogFormat { text, json };

enum class LogLevel { info, warning, error, critical };

using LogValue = std::variant<std::string, std::int64_t, double, bool>;
// A size or a count, for a field.
inline std::int64_t log_count(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}
using LogFields = std::vector<std::pair<std::string, LogValue>>;

struct LogRecord {
  std::chrono::system_clock::time_point at;
  LogLevel level = LogLevel::info;
  std::string event;    // "config.reloaded": for programs; it does not change
  std::string message;  // for people
  LogFields fields;
};

// Where the lines go, besides their form: the journal has its own time, and takes the level as a
// prefix "<3>".
enum class LogTarget { stream, journal };

// The line without its end. Pure.
std::string format_line(const LogRecord& record, LogFormat format, LogTarget target);

// Control characters, and the bytes of Unicode's own line ends, as \xNN; the rest as it is.
std::string one_line(std::string_view text);

// True if stderr is the journal's stream: $JOURNAL_STREAM names its device and inode.
bool stderr_is_journal();

// From now on log(), and spdlog's default logger, write to stderr. Once, before any thread.
void start_logging(LogFormat format);

void log(LogLevel level, std::string event, std::string message, LogFields fields = {});

}  // namespace paddock::supervisor
