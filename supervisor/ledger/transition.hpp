#pragma once
// Transition: what the ledger is told. One event and the rows that it leads to, committed together
// or not at all. Plain data; the ledger knows no run, no agent and no budget beyond these rows.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/base/process_mark.hpp"

namespace paddock::supervisor {

// Something that happened, as the chain and /v1/events have it.
struct Event {
  std::string kind;     // "run.finished"
  std::string subject;  // the run's id or the agent's name; empty: the daemon
  std::string tenant;
  std::string body;  // a JSON object on one line
  std::chrono::system_clock::time_point at;

  bool operator==(const Event&) const = default;
};

struct StoredEvent {
  std::uint64_t seq = 0;  // 1, 2, 3 ... without a gap
  Event event;
  std::string hash;  // 64 hexadecimal digits

  bool operator==(const StoredEvent&) const = default;
};

// A run's row as a whole: each transition writes all of it.
struct RunRow {
  std::string id;
  std::string state;  // "queued", "starting", "running", "finished"
  std::string tenant;
  std::string profile;
  std::string agent;   // empty: none
  std::string parent;  // the run that asked for this one; empty: none
  std::string policy_hash;
  std::int64_t created_us = 0;  // since the epoch, here and below
  std::int64_t started_us = 0;  // 0: not yet
  std::int64_t ended_us = 0;
  std::optional<kernel::ProcessMark> launcher;
  std::optional<kernel::ProcessMark> agent_process;
  std::string cause;  // empty until finished
  std::int64_t exit_code = 0;
  std::uint64_t cpu_us = 0;
  std::uint64_t wall_us = 0;
  std::uint64_t max_rss_bytes = 0;
  std::uint64_t written_bytes = 0;  // to files on disk
  std::string degraded;             // controls asked for and missing, with commas

  bool operator==(const RunRow&) const = default;
};

// An agent that shall outlive the daemon's restart.
struct AgentRow {
  std::string name;
  std::string wanted;  // "running" or "stopped"

  bool operator==(const AgentRow&) const = default;
};

struct BudgetRow {
  std::string agent;
  std::string dimension;
  std::int64_t limit = 0;    // of the template; 0: unlimited
  std::int64_t granted = 0;  // on top of it
  std::int64_t used = 0;
  bool warned = false;
  bool breached = false;

  bool operator==(const BudgetRow&) const = default;
};

// A policy's canonical text, stored once per hash. Belongs to the first transition of each run
// under it: a policy that no run refers to any more is deleted with its events.
struct PolicyRow {
  std::string hash;
  std::string text;

  bool operator==(const PolicyRow&) const = default;
};

// A verdict, to be found again by its request or its nonce. Deleted with its event.
struct VerdictRow {
  std::string tenant;
  std::string request_id;  // empty: none
  std::string item;        // its id
  std::string nonce;       // empty: none
  std::string answer;      // JSON, as the client got it

  bool operator==(const VerdictRow&) const = default;
};

// The newest event of a chain.
struct LedgerHead {
  std::uint64_t seq = 0;
  std::string hash;

  bool operator==(const LedgerHead&) const = default;
};

struct Transition {
  Event event;
  std::optional<RunRow> run{};
  std::optional<PolicyRow> policy{};
  std::optional<AgentRow> agent{};
  std::vector<BudgetRow> budgets{};
  std::optional<VerdictRow> verdict{};

  bool operator==(const Transition&) const = default;
};

}  // namespace paddock::supervisor
