#pragma once
// AgentTemplate: an agent as an operator wrote it in agents/*.toml: a command and the profile it
// runs under. A request that names an agent gets the template's command, with the request's own
// argv appended, and can tighten but not replace what the template says. What stands below
// `workdir` is for its long-running run, which the supervisor keeps alive (RFC 0007).

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::kernel {

// What its stdin and stdout are.
enum class AgentProtocol {
  plain,  // no input; lines of output
  jsonl,  // messages, one JSON object a line
};

enum class WorkspaceUse {
  persistent,       // a directory on the host that outlives its runs
  private_per_run,  // "private": a fresh one for each
};

enum class RestartPolicy { never, on_failure, always };

struct RestartRules {
  RestartPolicy policy = RestartPolicy::on_failure;
  std::uint64_t max_restarts = 10;  // in a row
  std::chrono::milliseconds backoff{1'000};
  std::chrono::milliseconds backoff_max{60'000};
  double jitter = 0.5;                      // a wait is 1 +- jitter/2 times as long
  std::chrono::milliseconds reset{60'000};  // a run that lived this long starts the count again
  std::chrono::milliseconds stop{5'000};    // from TERM to KILL

  bool operator==(const RestartRules&) const = default;
};

struct AgentLogLimits {
  std::uint64_t bytes = 10u << 20;  // of one file
  std::uint64_t files = 3;          // the current one and older ones

  bool operator==(const AgentLogLimits&) const = default;
};

struct AgentTemplate {
  std::string name;  // [A-Za-z0-9_-]{1,64}
  std::string description;
  std::string source;  // the file it came from
  std::string profile;
  std::vector<std::string> command;                // never empty
  std::map<std::string, std::string> environment;  // added to the profile's
  std::string workdir;                             // as the command sees it; empty: the profile's

  AgentProtocol protocol = AgentProtocol::plain;
  bool autostart = false;
  WorkspaceUse workspace = WorkspaceUse::persistent;
  std::string tenant;  // empty: nobody's but the operator's
  std::optional<std::chrono::milliseconds>
      wall_clock;                            // absent: unlimited, whatever the profile says
  std::optional<std::uint64_t> cpu_seconds;  // the same
  RestartRules restart;
  std::map<std::string, std::uint64_t> budget;  // dimension -> limit
  AgentLogLimits log;

  bool operator==(const AgentTemplate&) const = default;
};

// [a-z][a-z0-9_]{0,31}
bool is_dimension(std::string_view text);

// Amounts are whole numbers up to this, which JSON carries without loss.
constexpr std::uint64_t budget_amount_max = std::uint64_t{1} << 53;

}  // namespace paddock::kernel
