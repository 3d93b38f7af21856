#include "supervisor/daemon/daemon_config.hpp"

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
runtimes    = ["/d"]
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
known_answers = false
[tcp]
listen = "[::1]:80"
token_file = "/t"
tenant = "trainer"
profile = "SEALED"
)");
  CHECK(applied.mistakes.empty());
  const DaemonConfig& config = applied.config;
  CHECK(config.verify.items_alive == 6);
  CHECK(config.verify.item_wall_clock == milliseconds(2500));
  CHECK(config.verify.queued_max == 7);
  CHECK(config.verify.queued_bytes_max == 8192);
  CHECK_FALSE(config.verify.known_answers);
  CHECK(config.runtime_directory == "/srv/run");
  CHECK(config.state_directory == "/srv/state");
  CHECK(config.cgroup_base == "/sys/fs/cgroup/paddock");
  CHECK(config.access_file == "/etc/paddock/who.toml");
  CHECK(config.profile_directories == std::vector<std::string>{"/a", "/b"});
  CHECK(config.agent_directories == std::vector<std::string>{"/c"});
  CHECK(config.runtime_directories == std::vector<std::string>{"/d"});
  CHECK(config.tcp == TcpConfig{.listen = {.v6 = true, .port = 80},
                                .token_file = "/t",
                                .tenant = "trainer",
                                .profile = "SEALED"});
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

TEST_CASE("without a [tcp] table there is no TCP, and with one its profile is STRICT") {
  CHECK(apply("").config.tcp == std::nullopt);
  const Applied applied = apply("[tcp]\nlisten = \"localhost:8231\"\ntoken_file = \"/t\"\n");
  CHECK(applied.mistakes.empty());
  CHECK(applied.config.tcp == TcpConfig{.listen = {.v6 = false, .port = 8231},
                                        .token_file = "/t",
                                        .tenant = "",
                                        .profile = "STRICT"});
}

TEST_CASE("TCP is for this host alone, and needs a token") {
  CHECK(apply("[tcp]\n").mistakes ==
        std::vector<std::string>{"d.toml:1:1: [tcp] listen is missing",
                                 "d.toml:1:1: [tcp] token_file is missing"});
  const std::string rest = "\ntoken_file = \"/t\"\n";
  for (const char* listen : {"0.0.0.0:8231", "192.168.0.1:1", "[::]:1", ":8231", "8231", "*:1",
                             "127.0.0.2:1", "localhost.evil.example:1", "127.0.0.1"}) {
    const std::string told = mistake("[tcp]\nlisten = \"" + std::string(listen) + "\"" + rest);
    CHECK(told == "d.toml:2:10: listen '" + std::string(listen) +
                      "' is not 127.0.0.1:PORT or [::1]:PORT: only this host's own programs are "
                      "listened to");
  }
  for (const char* port : {"", "65536", "-1", "80x", "http"})
    CHECK(mistake("[tcp]\nlisten = \"127.0.0.1:" + std::string(port) + "\"" + rest) ==
          "d.toml:2:10: listen '127.0.0.1:" + std::string(port) + "' has no port from 0 to 65535");
  CHECK(mistake("[tcp]\nlisten = \"127.0.0.1:1\"\ntoken_file = \"t\"\n") ==
        "d.toml:3:14: token_file 't' is not an absolute path");
  CHECK(mistake("[tcp]\nlisten = \"127.0.0.1:1\"\ntoken_file = \"/t\"\ntenant = \"a b\"\n") ==
        "d.toml:4:10: tenant 'a b' is not of the form [A-Za-z0-9_-]{1,64}");
  CHECK(mistake("[tcp]\nlisten = \"127.0.0.1:1\"\ntoken_file = \"/t\"\ntokn = 1\n")
            .starts_with("d.toml:4:1: unknown key 'tokn' in [tcp]"));
  CHECK(mistake("tpc = 1\n").find("'tcp'") != std::string::npos);
}
