#pragma once
// What the doors that run code have in common: from what their clients ask for to a CodeJob. These
// clients know no profiles. What they ask for beyond one is lowered to it, and the answer says so.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernel/policy/load.hpp"
#include "kernel/policy/request.hpp"
#include "supervisor/runtimes/code_run.hpp"
#include "supervisor/runtimes/runtime.hpp"

namespace paddock::supervisor {

// Kept of each stream, at most: it becomes one JSON string on the loop.
constexpr std::uint64_t door_output_bytes_max = 4u << 20;

struct CodeLimits {
  std::optional<std::chrono::milliseconds> wall_clock;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::chrono::milliseconds> cpu{};  // rounded up to whole seconds: RLIMIT_CPU

  bool operator==(const CodeLimits&) const = default;
};

struct CodeAsk {
  std::string language;
  std::string code;
  Files files;  // besides the code
  std::vector<std::string> arguments;
  std::vector<std::string> wanted;
  std::string stdin_bytes;
  CodeLimits compile;
  CodeLimits run;

  bool operator==(const CodeAsk&) const = default;
};

// What the daemon that serves a door has.
struct CodeDoor {
  const kernel::Catalog& catalog;
  std::string profile;  // for languages that name none
  // For the caller of the door.
  std::function<kernel::Result<ResolvedRun>(const kernel::Request&)> admit;
};

struct PreparedCode {
  CodeJob job;
  std::vector<std::string> notes;  // what was lowered: "memory of 1073741824 bytes to 536870912"
};

// Fails with invalid_request (a file name, too many files), and as admission does.
kernel::Result<PreparedCode> prepare_code(const CodeAsk& ask, const Runtime& runtime,
                                          const CodeDoor& door);

// "unknown language 'cobol'; there is 'bash', 'c', 'cpp', ..."
kernel::Error unknown_language(const Runtimes& runtimes, const std::string& name);

// What a client could not tell from the rest of an answer: "how it ended", where that was not by
// itself, and which output was cut.
std::vector<std::string> remarks_on(const kernel::SandboxResult& ended);
// "lowered to what the profile allows: NOTE", for each.
std::vector<std::string> remarks_of(const std::vector<std::string>& notes);

// Whole milliseconds of a number of seconds; nothing if it is no time.
std::optional<std::chrono::milliseconds> milliseconds_of(double seconds);

}  // namespace paddock::supervisor
