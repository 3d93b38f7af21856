// The example that is shipped must be right.

#include <regex>

#include "kernel/base/fd.hpp"
#include "supervisor/daemon/daemon_config.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;

namespace {

std::string example() {
  const auto text = kernel::read_file(PADDOCKD_EXAMPLE, 1u << 20);
  REQUIRE(text);
  return *text;
}

DaemonConfig applied(const std::string& text) {
  DaemonConfig config;
  std::vector<kernel::Diagnostic> diagnostics;
  apply_config_file(text, PADDOCKD_EXAMPLE, config, diagnostics);
  for (const auto& diagnostic : diagnostics) UNSCOPED_INFO(kernel::to_string(diagnostic));
  CHECK(diagnostics.empty());
  return config;
}

}  // namespace

TEST_CASE("the shipped example of the daemon's configuration changes nothing") {
  const DaemonConfig config = applied(example());
  const DaemonConfig defaults;
  CHECK(config.runtime_directory.empty());
  CHECK(config.state_directory.empty());
  CHECK(config.access_file.empty());
  CHECK(config.cgroup_base.empty());
  CHECK(config.profile_directories.empty());
  CHECK(config.agent_directories.empty());
  CHECK(config.host_uids.first == defaults.host_uids.first);
  CHECK(config.host_uids.count == defaults.host_uids.count);
  CHECK(config.runs.alive_max == defaults.runs.alive_max);
  CHECK(config.runs.queued_max == defaults.runs.queued_max);
  CHECK(config.runs.finished_max == defaults.runs.finished_max);
  CHECK(config.connections_max == defaults.connections_max);
  CHECK(config.body_bytes_max == defaults.body_bytes_max);
  CHECK(config.drain == defaults.drain);
  CHECK(config.verify.items_alive == defaults.verify.items_alive);
  CHECK(config.verify.item_wall_clock == defaults.verify.item_wall_clock);
  CHECK(config.verify.queued_max == defaults.verify.queued_max);
  CHECK(config.verify.queued_bytes_max == defaults.verify.queued_bytes_max);
  CHECK(config.verify_warm == defaults.verify_warm);
  CHECK(config.zygotes_max == defaults.zygotes_max);
  CHECK(config.ledger_sync == defaults.ledger_sync);
  CHECK(config.ledger.keep == defaults.ledger.keep);
  CHECK(config.ledger.keep_bytes == defaults.ledger.keep_bytes);
  CHECK(config.runtime_directories.empty());
  CHECK(config.tcp == std::nullopt);
}

TEST_CASE("the shipped example of the daemon's configuration has every key") {
  const std::string all =
      std::regex_replace(example(), std::regex("\n#([a-z_]+ = |\\[tcp)"), "\n$1");
  const DaemonConfig config = applied(all);
  CHECK(config.runtime_directory == "/run/paddock");
  CHECK(config.state_directory == "/var/lib/paddock");
  CHECK(config.access_file == "/etc/paddock/access.toml");
  CHECK_FALSE(config.cgroup_base.empty());
  CHECK(config.profile_directories.size() == 1);
  CHECK(config.agent_directories.size() == 1);
  CHECK(config.runtime_directories.size() == 1);
  REQUIRE(config.tcp);
  CHECK(config.tcp->listen == LoopbackAddress{.v6 = false, .port = 8231});
  for (const char* key :
       {"runtime_dir",   "state_dir",  "access",      "cgroup_base",   "profiles",    "agents",
        "host_uids",     "runs_alive", "runs_queued", "runs_finished", "connections", "body_bytes",
        "drain_seconds", "sync",       "keep_days",   "keep_bytes",    "runtimes",    "listen",
        "token_file",    "tenant",     "profile",     "zygotes",       "warm"}) {
    INFO(key);
    CHECK(all.find(std::string("\n") + key + " = ") != std::string::npos);
  }
}
