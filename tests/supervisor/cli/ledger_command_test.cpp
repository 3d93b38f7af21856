#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/daemon_files.hpp"
#include "supervisor/cli/ledger_text.hpp"
#include "supervisor/config/paths.hpp"
#include "supervisor/ledger/file_names.hpp"
#include "supervisor/ledger/ledger_writer.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using namespace paddock::supervisor::cli;
using namespace std::chrono_literals;

namespace {

class LedgerFile {
 public:
  LedgerFile() {
    std::array<char, 64> name{"/var/tmp/paddock-cli-ledger-XXXXXX"};
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    directory_ = name.data();
    auto writer = LedgerWriter::open(path(), LedgerSync::normal);
    REQUIRE(writer);
    Transition transition;
    transition.event = {.kind = "run.finished",
                        .subject = "r-1",
                        .tenant = "a",
                        .body = R"({"argv":["\u001b[2J"]})",
                        .at = std::chrono::system_clock::time_point(1ms)};
    transition.run.emplace();
    transition.run->id = "r-1";
    transition.run->state = "finished";
    transition.run->cause = "exited";
    transition.run->tenant = "\x1b[2J\xff";
    transition.run->launcher =
        paddock::kernel::ProcessMark{.pid = 7, .start_ticks = 8, .boot_id = "b"};
    transition.run->cpu_us = 1'500'000;
    REQUIRE(writer->apply(std::array{transition}));
  }
  ~LedgerFile() { std::filesystem::remove_all(directory_); }
  LedgerFile(const LedgerFile&) = delete;
  LedgerFile& operator=(const LedgerFile&) = delete;

  std::string path() const { return directory_ + "/ledger.db"; }
  int verify(const std::string& head = "") const {
    Options options;
    options.ledger_file = path();
    options.ledger_head = head;
    return ledger_verify_command(options);
  }

 private:
  std::string directory_;
};

}  // namespace

TEST_CASE_METHOD(LedgerFile, "verify exits with 0 for a whole ledger and with 2 for another head") {
  CHECK(verify() == 0);
  const Verification found = verify_ledger(path(), std::nullopt).value();
  CHECK(verify(to_text(found.head)) == 0);
  CHECK(verify("1:" + std::string(64, 'a')) == 2);
  CHECK(verify("2:" + std::string(64, 'a')) == 2);
}

TEST_CASE_METHOD(LedgerFile, "verify exits with 1 for what it cannot read") {
  CHECK(verify("not a head") == 1);
  std::ofstream(path()) << "no database at all";
  CHECK(verify() == 1);
  std::filesystem::remove(path());
  CHECK(verify() == 1);
}

TEST_CASE_METHOD(LedgerFile, "show exits with 0 for a run that is there and with 1 for another") {
  Options options;
  options.ledger_file = path();
  options.run = "r-1";
  CHECK(ledger_show_command(options) == 0);
  options.json = true;
  CHECK(ledger_show_command(options) == 0);
  options.run = "r-2";
  CHECK(ledger_show_command(options) == 1);
}

TEST_CASE_METHOD(LedgerFile, "a run's text is safe for a terminal, and its JSON is JSON") {
  const StoredRun run = LedgerReader::open(path())->run("r-1").value().value();
  const std::string text = stored_run_text(run, path());
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK_THAT(text, Catch::Contains("pid 7, started at tick 8 of boot b") &&
                       Catch::Contains("1.500 s") && Catch::Contains("run.finished") &&
                       Catch::Contains("1970-01-01T00:00:00.001000Z"));
  const auto told = nlohmann::json::parse(stored_run_json(run, path()));
  CHECK_THAT(text, Catch::Contains("ledger") && Catch::Contains(path()));
  CHECK(told.at("ledger") == path());
  CHECK(told.at("run").at("launcher").at("start_ticks") == 8);
  CHECK(told.at("run").at("created_at").is_null());
  CHECK(told.at("events").at(0).at("body").at("argv").size() == 1);
  CHECK(told.at("events").at(0).at("hash").get<std::string>().size() == 64);
}

TEST_CASE("what verify found is told as text and as JSON") {
  Verification found{
      .events = 3, .rows = 2, .anchor = {}, .head = {.seq = 3, .hash = "abc"}, .edit = {}};
  CHECK(verification_text(found, "x.db") == "whole: 3 events, 2 rows in x.db\nhead: 3:abc\n");
  auto told = nlohmann::json::parse(verification_json(found, "x.db"));
  CHECK(told.at("whole") == true);
  CHECK(told.at("file") == "x.db");
  CHECK(told.at("head") == "3:abc");
  CHECK(told.at("pruned_up_to").is_null());
  found.anchor = {.seq = 1, .hash = "def"};
  CHECK_THAT(verification_text(found, "x.db"), Catch::Contains("pruned up to 1:def\n"));
  found.edit = {.seq = 4, .what = "event 4 is missing"};
  CHECK(verification_text(found, "x.db") ==
        "EDITED: event 4 is missing\nin x.db\n3 events before that fit\n");
  told = nlohmann::json::parse(verification_json(found, "x.db"));
  CHECK(told.at("whole") == false);
  CHECK(told.at("edit").at("seq") == 4);
}

TEST_CASE("an empty ledger is said to be empty, not only whole") {
  const Verification found;
  CHECK(verification_text(found, "x.db") ==
        "empty: no event in x.db, so that nothing was checked\n");
}

TEST_CASE("the ledger is the one that is named, or the default one of the default daemon") {
  ::unsetenv("PADDOCK_SOCKET");
  const std::string of_default = ledger_path(default_state_directory());
  Options options;
  CHECK(ledger_file_of(options).value() == of_default);
  options.global.socket = main_socket_path(default_runtime_directory());
  CHECK(ledger_file_of(options).value() == of_default);

  options.global.socket = "/srv/run/paddock.sock";
  const auto refused = ledger_file_of(options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == paddock::kernel::ErrorCode::invalid_request);
  CHECK_THAT(refused.error().message,
             Catch::StartsWith("--socket names the daemon at '/srv/run/paddock.sock'") &&
                 Catch::Contains("--state-dir, --config or --file"));
  options.global.socket.clear();
  ::setenv("PADDOCK_SOCKET", "/srv/run/paddock.sock", 1);
  CHECK_THAT(ledger_file_of(options).error().message, Catch::StartsWith("PADDOCK_SOCKET names"));
  CHECK(ledger_verify_command(options) == 1);
  options.run = "r-1";
  CHECK(ledger_show_command(options) == 1);

  options.state_directory = "/srv/state";
  CHECK(ledger_file_of(options).value() == "/srv/state/ledger.db");
  options.state_directory.clear();
  options.ledger_file = "/backup/x.db";
  CHECK(ledger_file_of(options).value() == "/backup/x.db");
  options.ledger_file.clear();
  options.global.embedded = true;
  CHECK(ledger_file_of(options).value() == of_default);
  ::unsetenv("PADDOCK_SOCKET");
}

TEST_CASE_METHOD(LedgerFile, "a daemon's config file says where its ledger is") {
  Options options;
  options.config_file = path() + ".toml";
  std::ofstream(options.config_file) << "state_dir = \"/srv/there\"\n";
  CHECK(ledger_file_of(options).value() == "/srv/there/ledger.db");
  std::ofstream(options.config_file) << "state_dri = \"/srv/there\"\n";
  CHECK_FALSE(ledger_file_of(options));
}
