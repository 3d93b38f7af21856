#include <array>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "supervisor/cli/commands.hpp"
#include "supervisor/cli/ledger_text.hpp"
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
    transition.run->launcher = ProcessMark{.pid = 7, .start_ticks = 8, .boot_id = "b"};
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
  const std::string text = stored_run_text(run);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK_THAT(text, Catch::Contains("pid 7, started at tick 8 of boot b") &&
                       Catch::Contains("1.500 s") && Catch::Contains("run.finished") &&
                       Catch::Contains("1970-01-01T00:00:00.001000Z"));
  const auto json = nlohmann::json::parse(stored_run_json(run));
  CHECK(json.at("run").at("launcher").at("start_ticks") == 8);
  CHECK(json.at("run").at("created_at").is_null());
  CHECK(json.at("events").at(0).at("body").at("argv").size() == 1);
  CHECK(json.at("events").at(0).at("hash").get<std::string>().size() == 64);
}

TEST_CASE("what verify found is told as text and as JSON") {
  Verification found{
      .events = 3, .rows = 2, .anchor = {}, .head = {.seq = 3, .hash = "abc"}, .edit = {}};
  CHECK(verification_text(found, "x.db") == "whole: 3 events, 2 rows in x.db\nhead: 3:abc\n");
  auto json = nlohmann::json::parse(verification_json(found));
  CHECK(json.at("whole") == true);
  CHECK(json.at("head") == "3:abc");
  CHECK(json.at("pruned_up_to").is_null());
  found.anchor = {.seq = 1, .hash = "def"};
  CHECK_THAT(verification_text(found, "x.db"), Catch::Contains("pruned up to 1:def\n"));
  found.edit = {.seq = 4, .what = "event 4 is missing"};
  CHECK(verification_text(found, "x.db") ==
        "EDITED: event 4 is missing\n3 events before that fit\n");
  json = nlohmann::json::parse(verification_json(found));
  CHECK(json.at("whole") == false);
  CHECK(json.at("edit").at("seq") == 4);
}
