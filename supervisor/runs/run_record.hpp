#pragma once
// RunRecord: one run as clients see it, from the queue to its end. Plain data.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/run/receipt.hpp"
#include "kernel/run/result.hpp"
#include "kernel/run/run.hpp"

namespace paddock::supervisor {

using RunId = std::string;  // "r-" and 16 hexadecimal digits

RunId make_run_id();
bool is_run_id(std::string_view text);

enum class RunPhase { queued, running, finished };

std::string_view name_of(RunPhase phase);
std::optional<RunPhase> phase_named(std::string_view name);

// The detail of one that was ended before it had a process, for no other reason than a request.
constexpr const char* still_queued_detail = "it was still in the queue";

struct RunRecord {
  RunId id;
  RunPhase phase = RunPhase::queued;
  std::string profile;
  std::string agent;  // empty: the request named an argv
  std::string tenant;
  RunId parent;  // the run that asked for it; empty: none
  // A program of paddock's own is in it by name: see RecordedArgv.
  std::vector<std::string> argv;
  std::chrono::system_clock::time_point created_at;
  std::uint64_t queue_ms = 0;                                       // from the request to the spawn
  std::optional<std::chrono::system_clock::time_point> started_at;  // its process
  std::string policy_hash;
  std::string policy_text;            // canonical
  std::vector<std::string> degraded;  // controls asked for and missing
  kernel::RunMarks marks;
  std::optional<kernel::Receipt> receipt;       // once observed
  std::optional<kernel::SandboxResult> result;  // when finished
  // Only of one that asked to be a fork of an interpreter, once it has a process: whether it is
  // one, and if not why.
  std::optional<bool> warm;
  std::string cold_because;
  bool recorded = true;  // false: it is finished, and the ledger does not have that yet

  bool operator==(const RunRecord&) const = default;
};

}  // namespace paddock::supervisor
