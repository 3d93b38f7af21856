#pragma once
// AgentStatus: a long-running agent as clients see it. Plain data.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "supervisor/agents/agent_machine.hpp"
#include "supervisor/runs/run_record.hpp"

namespace paddock::supervisor {

constexpr std::size_t stderr_tail_bytes_max = 4096;

// How its last run ended.
struct AgentEnd {
  RunId run;
  std::chrono::system_clock::time_point at;
  std::string cause;
  int exit_code = 0;
  std::string detail;
  std::string exit_kind;    // under jsonl; without an `exit` message: "crashed"
  std::string summary;      // of that message
  std::string stderr_tail;  // bytes

  bool operator==(const AgentEnd&) const = default;
};

struct AgentStatus {
  AgentState state = AgentState::stopped;
  std::chrono::system_clock::time_point since{};  // in this state; the epoch: it was never started
  bool wanted = false;
  RunId run;                   // empty: none
  std::uint64_t restarts = 0;  // in a row
  std::string reason;          // why it failed or has to be restarted
  std::optional<std::chrono::system_clock::time_point> next_start;  // while backing off
  std::optional<std::uint64_t> iteration;                           // the newest that it named
  std::string policy_hash;                                          // of its newest run
  std::optional<AgentEnd> last_end;

  bool operator==(const AgentStatus&) const = default;
};

}  // namespace paddock::supervisor
