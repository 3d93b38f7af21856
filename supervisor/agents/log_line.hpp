#pragma once
// LogLine: one line of an agent's log, as plain data and as the JSON that the file holds.

#include <chrono>
#include <string>
#include <vector>

namespace paddock::supervisor {

struct LogLine {
  std::chrono::system_clock::time_point at;
  std::string run;
  std::string stream;   // "stdout", "stderr"; "log" for log messages, "message" for other ones, and
                        // "paddock" for what the supervisor has to say
  std::string level{};  // of a log message; else empty
  std::string text;     // bytes; at most output_piece_bytes_max of output

  bool operator==(const LogLine&) const = default;
};

// {"at", "run", "stream", "text"} and a newline; "base64" in place of "text" where that is no
// UTF-8.
std::string to_json(const LogLine& line);

}  // namespace paddock::supervisor
