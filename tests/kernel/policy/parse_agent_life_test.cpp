// The keys of a template that are about its long-running run.

#include "kernel/policy/load.hpp"
#include "kernel/policy/policy.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;
using namespace std::chrono_literals;

namespace {

constexpr const char* head = "name = \"a\"\nprofile = \"STRICT\"\ncommand = [\"x\"]\n";

AgentTemplate parsed_agent(const std::string& text) {
  std::vector<Diagnostic> diagnostics;
  const auto agent = parse_agent(head + text, "a.toml", diagnostics);
  for (const Diagnostic& diagnostic : diagnostics) INFO(to_string(diagnostic));
  REQUIRE(agent);
  return *agent;
}

std::vector<std::string> life_mistakes(const std::string& text) {
  std::vector<Diagnostic> diagnostics;
  const auto agent = parse_agent(head + text, "a.toml", diagnostics);
  CHECK(agent.has_value() == diagnostics.empty());
  std::vector<std::string> lines;
  for (const Diagnostic& diagnostic : diagnostics) lines.push_back(to_string(diagnostic));
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a template that says nothing of its life gets the defaults") {
  const AgentTemplate agent = parsed_agent("");
  CHECK(agent.protocol == AgentProtocol::plain);
  CHECK_FALSE(agent.autostart);
  CHECK(agent.workspace == WorkspaceUse::persistent);
  CHECK(agent.tenant.empty());
  CHECK_FALSE(agent.wall_clock);
  CHECK_FALSE(agent.cpu_seconds);
  CHECK(agent.budget.empty());
  const RestartRules& restart = agent.restart;
  CHECK(restart.policy == RestartPolicy::on_failure);
  CHECK(restart.max_restarts == 10);
  CHECK(restart.backoff == 1s);
  CHECK(restart.backoff_max == 60s);
  CHECK(restart.jitter == 0.5);
  CHECK(restart.reset == 60s);
  CHECK(restart.stop == 5s);
  CHECK(agent.log == AgentLogLimits{.bytes = 10u << 20, .files = 3});
}

TEST_CASE("a template has every key of its life where the operator wrote it") {
  const AgentTemplate agent = parsed_agent(R"(protocol = "jsonl"
autostart = true
workspace = "private"
tenant = "research"
[limits]
wall_seconds = "2h"
cpu_seconds = 30
[restart]
policy = "always"
max_restarts = 3
backoff_seconds = 0.25
backoff_max_seconds = "2s"
jitter = 1
reset_seconds = 10
stop_seconds = 1.5
[budget]
cpu_s = 3600
fs_w_bytes = "10GiB"
tokens = 2_000_000
reviews = 50
[log]
bytes = "1MiB"
files = 1
)");
  CHECK(agent.protocol == AgentProtocol::jsonl);
  CHECK(agent.autostart);
  CHECK(agent.workspace == WorkspaceUse::private_per_run);
  CHECK(agent.tenant == "research");
  CHECK(agent.wall_clock == 2h);
  CHECK(agent.cpu_seconds == 30);
  CHECK(agent.restart == RestartRules{.policy = RestartPolicy::always,
                                      .max_restarts = 3,
                                      .backoff = 250ms,
                                      .backoff_max = 2s,
                                      .jitter = 1,
                                      .reset = 10s,
                                      .stop = 1500ms});
  CHECK(agent.budget ==
        std::map<std::string, std::uint64_t>{
            {"cpu_s", 3600}, {"fs_w_bytes", 10ull << 30}, {"reviews", 50}, {"tokens", 2'000'000}});
  CHECK(agent.log == AgentLogLimits{.bytes = 1u << 20, .files = 1});
}

TEST_CASE("unlimited is a word for no limit of time, and no other word is") {
  const AgentTemplate agent =
      parsed_agent("[limits]\nwall_seconds = \"unlimited\"\ncpu_seconds = \"unlimited\"\n");
  CHECK_FALSE(agent.wall_clock);
  CHECK_FALSE(agent.cpu_seconds);
  const Lines lines = life_mistakes("[limits]\nwall_seconds = \"never\"\ncpu_seconds = 1.5\n");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].starts_with("a.toml:5:16: wall_seconds: "));
  CHECK(lines[1] == "a.toml:6:15: cpu_seconds must be whole seconds: the kernel counts it so");
}

TEST_CASE("every mistake in an agent's life has its place and the nearest name") {
  const Lines lines = life_mistakes(R"(protocol = "json"
autostart = 1
workspace = "mine"
tenant = "a b"
[limits]
memory_bytes = 3
wall_seconds = 0
[restart]
policy = "sometimes"
max_restart = 3
max_restarts = 0
backoff_seconds = 5
backoff_max_seconds = 2
jitter = 1.5
stop_seconds = "2h"
[budget]
Tokens = 3
cpu_s = 0
cost_micro = 9007199254740993
fs_w_bytes = "1 elephant"
[log]
bytes = 4096
files = 0
)");
  CHECK(lines == Lines{
                     "a.toml:4:12: protocol is 'json'; known are 'plain', 'jsonl'",
                     "a.toml:5:13: autostart must be true or false, not an integer",
                     "a.toml:6:13: workspace is 'mine'; known are 'persistent', 'private'",
                     "a.toml:7:10: tenant 'a b' is not of the form [A-Za-z0-9_-]{1,64}",
                     "a.toml:9:1: unknown key 'memory_bytes' in [limits]; known are "
                     "'wall_seconds', 'cpu_seconds'",
                     "a.toml:10:16: wall_seconds is 0 seconds, at least 0.001 and at most 366 days",
                     "a.toml:12:10: policy is 'sometimes'; known are 'never', 'on_failure', "
                     "'always'",
                     "a.toml:13:1: unknown key 'max_restart' in [restart]; did you mean "
                     "'max_restarts'?",
                     "a.toml:14:16: max_restarts is 0, at least 1; leave it out for the default",
                     "a.toml:16:23: backoff_max_seconds is 2s, and backoff_seconds is 5s",
                     "a.toml:17:10: jitter is 1.5, at least 0 and at most 1",
                     "a.toml:18:16: stop_seconds is above 3600s",
                     "a.toml:20:10: dimension 'Tokens' is not of the form [a-z][a-z0-9_]{0,31}",
                     "a.toml:21:9: cpu_s is 0, at least 1; leave it out for the default",
                     "a.toml:22:14: cost_micro is 9007199254740993, at most 9007199254740992",
                     "a.toml:23:14: fs_w_bytes: size '1 elephant' has an unknown unit; use B, "
                     "KiB, MiB, GiB, TiB, kB, MB, GB or TB",
                     "a.toml:25:9: bytes is 4KiB, at least 128KiB and at most 1TiB",
                     "a.toml:26:9: files is 0, at least 1 and at most 1000",
                 });
}

TEST_CASE("a backoff above the default of its maximum is a mistake of the backoff") {
  CHECK(life_mistakes("[restart]\nbackoff_seconds = 90\n") ==
        Lines{"a.toml:5:19: backoff_seconds is 90s, and backoff_max_seconds is 60s"});
}

TEST_CASE("an empty budget is no mistake, and a slip in its name finds it") {
  CHECK(parsed_agent("[budget]\n").budget.empty());
  CHECK(life_mistakes("[budgt]\ntokens = 3\n") ==
        Lines{"a.toml:4:2: unknown table 'budgt' at the top level; did you mean 'budget'?"});
}

TEST_CASE("the long-running run has the template's time, and a one-shot run the profile's") {
  Profile profile;
  profile.name = "STRICT";
  profile.wall_clock = 300s;
  profile.limits.cpu_seconds = 120;
  profile.limits.memory_bytes = 1u << 20;
  profile.output_stop_bytes = 1u << 30;
  profile.seccomp = SeccompUse::strict;
  const AgentTemplate agent = parsed_agent("[restart]\nstop_seconds = 7\n");

  const SandboxPolicy once = resolve(profile, Request{}, &agent).value();
  CHECK(once.wall_clock == 300s);
  CHECK(once.cpu_seconds == 120);
  CHECK(once.grace == 1s);
  CHECK(once.output_stop_bytes == 1u << 30);

  SandboxPolicy living = resolve_agent(profile, agent).value();
  CHECK_FALSE(living.wall_clock);
  CHECK_FALSE(living.cpu_seconds);
  CHECK(living.grace == 7s);
  CHECK(living.output_bytes == agent_output_bytes);
  CHECK_FALSE(living.output_stop_bytes);
  // Nothing else differs: isolation is the profile's.
  living.wall_clock = once.wall_clock;
  living.cpu_seconds = once.cpu_seconds;
  living.grace = once.grace;
  living.output_bytes = once.output_bytes;
  living.output_stop_bytes = once.output_stop_bytes;
  CHECK(living == once);
}

TEST_CASE("a log has always a bound, and a time that is none is told of \"unlimited\"") {
  CHECK(life_mistakes("[log]\nbytes = 0\nfiles = 0\n") ==
        Lines{"a.toml:5:9: bytes is 0B, at least 128KiB and at most 1TiB",
              "a.toml:6:9: files is 0, at least 1 and at most 1000"});
  CHECK(life_mistakes("[log]\nbytes = -1\n") ==
        Lines{"a.toml:5:9: bytes is -1: it cannot be negative"});
  for (const char* key : {"wall_seconds", "cpu_seconds"})
    CHECK(
        life_mistakes("[limits]\n" + std::string(key) + " = \"forever\"\n") ==
        Lines{"a.toml:5:" + std::to_string(std::string(key).size() + 4) + ": " + key +
              ": time 'forever' is not a time; write 30, \"1.5s\" or \"250ms\", or \"unlimited\""});
}
