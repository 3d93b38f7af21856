#include "kernel/policy/parse_agent_life.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernel/policy/names.hpp"
#include "kernel/policy/read_choice.hpp"
#include "kernel/policy/units.hpp"

namespace paddock::kernel {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view unlimited = "unlimited";

constexpr std::uint64_t max_restarts_max = 1'000'000;
constexpr milliseconds stop_max = std::chrono::hours(1);  // as a profile's grace_seconds
// A line of the log has at most 16 KiB of output, each byte of it in JSON at most six.
constexpr std::uint64_t log_bytes_min = 128u << 10;
constexpr std::uint64_t log_bytes_max = std::uint64_t{1} << 40;
constexpr std::uint64_t log_files_max = 1'000;

constexpr std::string_view dimension_of_bytes = "fs_w_bytes";

void read_tenant(TomlReader& reader, AgentTemplate& agent) {
  assign(agent.tenant, reader.text("", "tenant"));
  if (agent.tenant.empty() || is_name(agent.tenant)) return;
  reader.report(reader.place("", "tenant"),
                fmt::format("tenant '{}' is not of the form [A-Za-z0-9_-]{{1,64}}", agent.tenant));
}

void read_limits(TomlReader& reader, AgentTemplate& agent) {
  if (reader.is_word("limits", "wall_seconds", unlimited)) {
    reader.text("limits", "wall_seconds");
  } else {
    agent.wall_clock = reader.duration("limits", "wall_seconds", unlimited);
  }
  if (reader.is_word("limits", "cpu_seconds", unlimited)) {
    reader.text("limits", "cpu_seconds");
  } else {
    agent.cpu_seconds = reader.whole_seconds("limits", "cpu_seconds", unlimited);
  }
}

void read_restart(TomlReader& reader, RestartRules& restart) {
  const auto complain = [&](std::string_view key, std::string message) {
    reader.report(reader.place("restart", key), fmt::format("{} {}", key, message));
  };
  read_choice(reader, "restart", "policy", restart_policies, restart.policy);
  assign(restart.max_restarts, reader.count("restart", "max_restarts"));
  if (restart.max_restarts > max_restarts_max)
    complain("max_restarts",
             fmt::format("is {}, at most {}", restart.max_restarts, max_restarts_max));
  assign(restart.backoff, reader.duration("restart", "backoff_seconds"));
  assign(restart.backoff_max, reader.duration("restart", "backoff_max_seconds"));
  if (restart.backoff_max < restart.backoff) {
    const bool is_written = reader.has("restart", "backoff_max_seconds");
    complain(is_written ? "backoff_max_seconds" : "backoff_seconds",
             fmt::format("is {}, and backoff{}_seconds is {}",
                         format_duration(is_written ? restart.backoff_max : restart.backoff),
                         is_written ? "" : "_max",
                         format_duration(is_written ? restart.backoff : restart.backoff_max)));
  }
  assign(restart.jitter, reader.number("restart", "jitter"));
  // Written so that a NaN fails it too.
  if (!(restart.jitter >= 0 && restart.jitter <= 1))
    complain("jitter", fmt::format("is {}, at least 0 and at most 1", restart.jitter));
  assign(restart.reset, reader.duration("restart", "reset_seconds"));
  assign(restart.stop, reader.duration("restart", "stop_seconds"));
  if (restart.stop > stop_max)
    complain("stop_seconds", fmt::format("is above {}", format_duration(stop_max)));
}

void read_budget(TomlReader& reader, AgentTemplate& agent) {
  for (const std::string& dimension : reader.keys("budget")) {
    if (!is_dimension(dimension)) {
      reader.report(
          reader.place("budget", dimension),
          fmt::format("dimension '{}' is not of the form [a-z][a-z0-9_]{{0,31}}", dimension));
      continue;
    }
    const auto limit = dimension == dimension_of_bytes ? reader.bytes("budget", dimension)
                                                       : reader.count("budget", dimension);
    if (!limit) continue;
    if (*limit > budget_amount_max) {
      reader.report(reader.place("budget", dimension),
                    fmt::format("{} is {}, at most {}", dimension, *limit, budget_amount_max));
      continue;
    }
    agent.budget[dimension] = *limit;
  }
}

void read_log(TomlReader& reader, AgentLogLimits& log) {
  const auto check = [&](std::string_view key, std::uint64_t value, std::uint64_t least,
                         std::uint64_t most, std::string (*text)(std::uint64_t)) {
    if (value >= least && value <= most) return;
    reader.report(reader.place("log", key), fmt::format("{} is {}, at least {} and at most {}", key,
                                                        text(value), text(least), text(most)));
  };
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  assign(log.bytes, reader.bytes("log", "bytes", /*least=*/0));
  check("bytes", log.bytes, log_bytes_min, log_bytes_max, format_bytes);
  assign(log.files, reader.count("log", "files", /*least=*/0));
  check("files", log.files, 1, log_files_max, number);
}

}  // namespace

bool is_dimension(std::string_view text) {
  constexpr std::size_t bytes_max = 32;
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !text.empty() && text.size() <= bytes_max && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

void read_agent_life(TomlReader& reader, AgentTemplate& agent) {
  read_choice(reader, "", "protocol", agent_protocols, agent.protocol);
  assign(agent.autostart, reader.boolean("", "autostart"));
  read_choice(reader, "", "workspace", workspace_uses, agent.workspace);
  read_tenant(reader, agent);
  read_limits(reader, agent);
  read_restart(reader, agent.restart);
  read_budget(reader, agent);
  read_log(reader, agent.log);
}

}  // namespace paddock::kernel
