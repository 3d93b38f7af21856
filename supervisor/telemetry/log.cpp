#include "supervisor/telemetry/log.hpp"
#include "supervisor/telemetry/timestamp.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace paddock::supervisor {
namespace {

using nlohmann::ordered_json;

struct Style {
  LogFormat format = LogFormat::text;
  LogTarget target = LogTarget::stream;
};

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
    case LogLevel::critical:
      return "critical";
  }
  return "error";
}

// As syslog(3) numbers them.
int priority_of(LogLevel level) {
  switch (level) {
    case LogLevel::info:
      return 6;
    case LogLevel::warning:
      return 4;
    case LogLevel::error:
      return 3;
    case LogLevel::critical:
      return 2;
  }
  return 3;
}

LogLevel level_of(spdlog::level::level_enum level) {
  if (level >= spdlog::level::critical) return LogLevel::critical;
  if (level >= spdlog::level::err) return LogLevel::error;
  if (level >= spdlog::level::warn) return LogLevel::warning;
  return LogLevel::info;
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::critical:
      return spdlog::level::critical;
  }
  return spdlog::level::err;
}

std::string json_line(const LogRecord& record) {
  ordered_json object = {{"at", timestamp(record.at)},
                         {"level", name_of(record.level)},
                         {"event", record.event},
                         {"message", record.message}};
  // A field never takes the place of one of those above.
  for (const auto& [name, value] : record.fields)
    std::visit([&, &key = name](const auto& content) { object.emplace(key, content); }, value);
  return object.dump(-1, ' ', /*ensure_ascii=*/true, ordered_json::error_handler_t::replace);
}

// People read the message, which holds what the fields hold.
std::string text_line(const LogRecord& record, LogTarget target) {
  std::string line = target == LogTarget::journal
                         ? fmt::format("<{}>", priority_of(record.level))
                         : fmt::format("{} {} ", timestamp(record.at), name_of(record.level));
  line += one_line(record.message);
  return line;
}

// For spdlog calls that know no event.
class LineFormatter final : public spdlog::formatter {
 public:
  explicit LineFormatter(Style style) : style_(style) {}

  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override {
    const std::string text = format_line(
        {.at = std::chrono::time_point_cast<std::chrono::system_clock::duration>(message.time),
         .level = level_of(message.level),
         .event = "message",
         .message = std::string(message.payload.data(), message.payload.size()),
         .fields = {}},
        style_.format, style_.target);
    line.append(text.data(), text.data() + text.size());
    line.push_back('\n');
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<LineFormatter>(style_);
  }

 private:
  Style style_;
};

struct Log {
  Style style;
  std::shared_ptr<spdlog::logger> lines;  // takes whole lines
};

Log& the_log() {
  static Log log;
  return log;
}

std::shared_ptr<spdlog::logger> stderr_logger(const char* name) {
  return std::make_shared<spdlog::logger>(name, std::make_shared<spdlog::sinks::stderr_sink_mt>());
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // In UTF-8: U+0080 to U+009F are control characters as well, U+2028 and U+2029 end lines.
    const bool control = byte < 0x20 || byte == 0x7f;
    const bool second_control = byte == 0xc2 && i + 1 < text.size() &&
                                static_cast<unsigned char>(text[i + 1]) >= 0x80 &&
                                static_cast<unsigned char>(text[i + 1]) < 0xa0;
    const std::string_view rest = text.substr(i, 3);
    const bool line_end = rest == "\xe2\x80\xa8" || rest == "\xe2\x80\xa9";
    if (control || second_control || line_end) {
      safe += fmt::format("\\x{:02x}", byte);
    } else {
      safe += text[i];
    }
  }
  return safe;
}

std::string format_line(const LogRecord& record, LogFormat format, LogTarget target) {
  return format == LogFormat::json ? json_line(record) : text_line(record, target);
}

bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat info {};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &info) != 0) return false;
  return fmt::format("{}:{}", info.st_dev, info.st_ino) == stream;
}

void start_logging(LogFormat format) {
  Log& log = the_log();
  log.style = {.format = format,
               .target = stderr_is_journal() ? LogTarget::journal : LogTarget::stream};
  log.lines = stderr_logger("events");
  log.lines->set_pattern("%v");
  auto plain = stderr_logger("paddockd");
  plain->set_formatter(std::make_unique<LineFormatter>(log.style));
  spdlog::set_default_logger(std::move(plain));
}

void log(LogLevel level, std::string event, std::string message, LogFields fields) {
  const Log& log = the_log();
  if (!log.lines) return;  // a test, or a tool that links the library
  log.lines->log(spdlog_level(level), "{}",
                 format_line({.at = std::chrono::system_clock::now(),
                              .level = level,
                              .event = std::move(event),
                              .message = std::move(message),
                              .fields = std::move(fields)},
                             log.style.format, log.style.target));
}

}  // namespace paddock::supervisor
