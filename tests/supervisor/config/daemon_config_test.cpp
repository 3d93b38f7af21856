#include "supervisor/config/daemon_config.hpp"

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using std::chrono::milliseconds;

namespace {

struct Applied {
  DaemonConfig config;
  std::vector<std::string> mistakes;
};

Applied apply(std::string_view text) {
  Applied applied;
  std::vector<kernel::Diagnostic> diagnostics;
  apply_config_file(text, "d.toml", applied.config, diagnostics);
  for (const auto& diagnostic : diagnostics)
    applied.mistakes.push_back(kernel::to_string(diagnostic));
  return applied;
}

// The only mistake of `text`.
std::string mistake(std::string_view text) {
  const Applied applied = apply(text);
  INFO(text);
  REQUIRE(applied.mistakes.size() == 1);
  return applied.mistakes.front();
}

}  // namespace

TEST_CASE("every key of the config file is read into its field") {
  const Applied applied = apply(R"(
runtime_dir = "/srv/run"
state_dir   = "/srv/state"
cgroup_base = "/sys/fs/cgroup/paddock"
access = "/etc/paddock/who.toml"
profiles    = ["/a", "/b"]
agents      = ["/c"]
host_uids   = "70000-70009"
[limits]
runs_alive    = 1
runs_queued   = 2
runs_finished = 3
connections   = 4
body_bytes    = "5KiB"
drain_seconds = 1.5
[ledger]
sync       = "normal"
keep_days  = 7
keep_bytes = "1GiB"
[verify]
items_alive  = 6
wall_seconds = 2.5
queued       = 7
queued_bytes = "8KiB"
)");
  CHECK(applied.mistakes.empty());
  const DaemonConfig& config = applied.config;
  CHECK(config.verify.items_alive == 6);
  CHECK(config.verify.item_wall_clock == milliseconds(2500));
  CHECK(config.verify.queued_max == 7);
  CHECK(config.verify.queued_bytes_max == 8192);
  CHECK(config.runtime_directory == "/srv/run");
  CHECK(config.state_directory == "/srv/state");
  CHECK(config.cgroup_base == "/sys/fs/cgroup/paddock");
  CHECK(config.access_file == "/etc/paddock/who.toml");
  CHECK(config.profile_directories == std::vector<std::string>{"/a", "/b"});
  CHECK(config.agent_directories == std::vector<std::string>{"/c"});
  CHECK(config.host_uids.first == 70000);
  CHECK(config.host_uids.count == 10);
  CHECK(config.runs.alive_max == 1);
  CHECK(config.runs.queued_max == 2);
  CHECK(config.runs.finished_max == 3);
  CHECK(config.connections_max == 4);
  CHECK(config.body_bytes_max == 5120);
  CHECK(config.drain == milliseconds(1500));
  CHECK(config.ledger_sync == LedgerSync::normal);
  CHECK(config.ledger.keep == std::chrono::hours(7 * 24));
  CHECK(config.ledger.keep_bytes == 1u << 30);
}

TEST_CASE("the config file can say that runs get no cgroup") {
  DaemonConfig config;
  CHECK(config.cgroup_base.empty());
  std::vector<kernel::Diagnostic> diagnostics;
  apply_config_file("cgroup_base = \"none\"\n", "d.toml", config, diagnostics);
  CHECK(diagnostics.empty());
  CHECK(config.cgroup_base == "none");
}

TEST_CASE("directories of the config file come after those that are known already") {
  DaemonConfig config;
  config.profile_directories = {"/shipped"};
  std::vector<kernel::Diagnostic> diagnostics;
  apply_config_file("profiles = [\"/mine\"]\n", "d.toml", config, diagnostics);
  CHECK(diagnostics.empty());
  CHECK(config.profile_directories == std::vector<std::string>{"/shipped", "/mine"});
  CHECK(mistake("profiles = [\"/a\", \"b\"]") ==
        "d.toml:1:19: profiles 'b' is not an absolute path");
}

TEST_CASE("what the config file does not say stays as it was") {
  const Applied applied = apply("# nothing\n");
  CHECK(applied.mistakes.empty());
  const DaemonConfig config;
  CHECK(applied.config.runs.alive_max == config.runs.alive_max);
  CHECK(applied.config.drain == config.drain);
  CHECK(applied.config.profile_directories.empty());
}

TEST_CASE("the limits without a config file are those of RFC 0002") {
  const DaemonConfig config;
  CHECK(config.runs.alive_max == 64);
  CHECK(config.runs.queued_max == 256);
  CHECK(config.runs.finished_max == 1000);
  CHECK(config.runs.finished_bytes_max == 256u << 20);
  CHECK(config.runs.stdin_pending_bytes_max == 16u << 20);
  CHECK(config.connections_max == 512);
  CHECK(config.body_bytes_max == 32u << 20);
  CHECK(config.drain == std::chrono::seconds(30));
  CHECK(config.ledger_sync == LedgerSync::full);
}

TEST_CASE("a mistake in the config file has its place") {
  CHECK(mistake("runtime_dir = \"run\"") ==
        "d.toml:1:15: runtime_dir 'run' is not an absolute path");
  CHECK(mistake("\nstate_dir = \"./x\"").starts_with("d.toml:2:13: state_dir"));
  CHECK(mistake("cgroup_base = \"None\"").starts_with("d.toml:1:15: cgroup_base"));
  CHECK(mistake("access = \"who.toml\"").starts_with("d.toml:1:10: access"));
  CHECK(mistake("cgroup_base = 5").starts_with("d.toml:1:15: "));
  CHECK(mistake("cgroup_base = \"\"").starts_with("d.toml:1:15: cgroup_base"));
  CHECK(mistake("runtime_dir = 5").starts_with("d.toml:1:15: "));
  CHECK(mistake("profiles = \"/a\"").starts_with("d.toml:1:12: "));
  CHECK(mistake("agents = [\"/a\", 1]").starts_with("d.toml:1:17: "));
  CHECK(mistake("host_uids = 5").starts_with("d.toml:1:13: "));
  CHECK(mistake("host_uids = \"5\"").starts_with("d.toml:1:13: host_uids '5' is not a range"));
  CHECK(mistake("[limits]\nruns_alive = 0").starts_with("d.toml:2:14: "));
  CHECK(mistake("[limits]\nruns_queued = -1").starts_with("d.toml:2:15: "));
  CHECK(mistake("[limits]\nruns_finished = \"3\"").starts_with("d.toml:2:17: "));
  CHECK(mistake("[limits]\nconnections = 1.5").starts_with("d.toml:2:15: "));
  CHECK(mistake("[limits]\nbody_bytes = \"5 apples\"").starts_with("d.toml:2:14: "));
  CHECK(mistake("[limits]\ndrain_seconds = \"soon\"").starts_with("d.toml:2:17: "));
  CHECK(mistake("[ledger]\nsync = \"off\"").starts_with("d.toml:2:8: sync 'off' is neither"));
  CHECK(mistake("[ledger]\nkeep_days = 0").starts_with("d.toml:2:13: "));
  CHECK(mistake("[ledger]\nkeep_days = 99999").starts_with("d.toml:2:13: "));
  CHECK(mistake("[ledger]\nkeep_bytes = \"all\"").starts_with("d.toml:2:14: "));
  CHECK(mistake("runtime_dri = \"/x\"").find("did you mean 'runtime_dir'?") != std::string::npos);
  CHECK(mistake("[limits]\nbody_byte = 1").find("did you mean 'body_bytes'?") != std::string::npos);
  CHECK(mistake("runs_alive = 1").find("it belongs in [limits]") != std::string::npos);
  CHECK(mistake("[limit]\nruns_alive = 1").find("did you mean 'limits'?") != std::string::npos);
  CHECK(mistake("limits = 5").find("limits") != std::string::npos);
  CHECK(mistake("runtime_dir = ").starts_with("d.toml:1:"));
}

TEST_CASE("all mistakes of a config file are told at once, in the order of their lines") {
  const Applied applied =
      apply("typo = 1\nruntime_dir = \"x\"\n[limits]\nruns_alive = 0\nruns_queued = true\n");
  REQUIRE(applied.mistakes.size() == 4);
  CHECK(applied.mistakes[0].starts_with("d.toml:1:"));
  CHECK(applied.mistakes[1].starts_with("d.toml:2:"));
  CHECK(applied.mistakes[2].starts_with("d.toml:4:"));
  CHECK(applied.mistakes[3].starts_with("d.toml:5:"));
}

TEST_CASE("a range of host uids goes upwards and holds neither root nor nobody-at-all") {
  const auto range = parse_host_uids("60578-61183");
  REQUIRE(range);
  CHECK(range->first == 60578);
  CHECK(range->count == 606);
  CHECK(parse_host_uids("5-5")->count == 1);
  CHECK(parse_host_uids("1-4294967294")->count == 4294967294u);
  for (const char* text : {"",
                           "5",
                           "5-",
                           "-5",
                           "a-b",
                           "5-6x",
                           "5-6-7",
                           " 5-6",
                           "5 -6",
                           "5- 6",
                           "+5-6",
                           "5-+6",
                           "-6--5",
                           "0x5-0x6",
                           "5.0-6",
                           "99999999999-99999999999",
                           "5-4294967296",
                           "0-5",
                           "6-5",
                           "1-4294967295"}) {
    INFO(text);
    const auto refused = parse_host_uids(text);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == kernel::ErrorCode::invalid_request);
    CHECK(refused.error().message.find("host_uids '" + std::string(text) + "'") == 0);
  }
}
