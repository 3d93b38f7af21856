#pragma once
// The daemon's answers about runs as plain data: the other direction of supervisor/api/json.hpp.

#include <string>
#include <string_view>

#include "kernel/base/error.hpp"
#include "supervisor/runs/run_record.hpp"

namespace paddock::supervisor::cli {

// A run as RFC 0002 shows it, with output if it is there. Fails with internal if it is not one.
kernel::Result<RunRecord> run_from_json(std::string_view json);

// One line of a stream.
struct StreamEvent {
  enum class Kind { started, stdout_bytes, stderr_bytes, finished, other };
  Kind kind = Kind::other;
  RunId id;
  std::string bytes;  // of stdout_bytes and stderr_bytes
  RunRecord run;      // of finished
};
kernel::Result<StreamEvent> event_from_json(std::string_view line);

}  // namespace paddock::supervisor::cli
