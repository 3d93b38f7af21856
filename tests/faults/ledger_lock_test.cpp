// A ledger that is locked, or whose locks fail: at the daemon's start it does not start and says
// why; later it refuses runs, and goes on within seconds when that has passed.

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "faults/told.hpp"

using namespace paddock::faults;
using nlohmann::json;
using std::chrono::seconds;
using std::chrono::steady_clock;

namespace {

std::string ledger_of(const DaemonFixture& daemon) {
  return daemon.directory().path("state/ledger.db");
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put_content(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

// Another program that keeps the ledger to itself.
class OtherProgram {
 public:
  explicit OtherProgram(const std::string& ledger, const char* mode = "NORMAL")
      : database_(ledger, SQLite::OPEN_READWRITE) {
    database_.setBusyTimeout(5000);
    database_.exec(std::string("PRAGMA locking_mode = ") + mode + "; BEGIN IMMEDIATE");
  }

 private:
  SQLite::Database database_;
};

// Of a run that memory does not know, the ledger is asked.
void check_is_read(FaultyDaemon& faulty) {
  CHECK(faulty->get("/v1/runs/r-0123456789abcdef").status == 404);
}

void check_not_started(const DaemonFixture& daemon, const std::string& why) {
  const DaemonAttempt attempt = try_daemon({"--runtime-dir", daemon.directory().path("run"),
                                            "--state-dir", daemon.directory().path("state")});
  INFO(attempt.standard_error);
  CHECK((attempt.ended.exit_status == 1 || attempt.ended.exit_status == 3));
  CHECK_THAT(attempt.standard_error, Catch::Contains(ledger_of(daemon)));
  CHECK_THAT(attempt.standard_error, Catch::Contains(why));
}

}  // namespace

TEST_CASE("a ledger whose locks fail for a while refuses runs, and records again within seconds") {
  for (const Call call : {Call::lock, Call::unlock}) {
    INFO(name_of(call));
    FaultyDaemon faulty;
    Told told;
    const std::string id = faulty->start(shell("sleep 1; echo x"));
    told.run(id);
    faulty.know(id);
    faulty->wait_until_started(id);
    faulty.board().fail(call, ENOLCK, 0, 1'000'000);
    // The first commit may still have its lock; SQLite tries for 10 s to get it.
    CHECK(eventually([&] { return faulty.is_refused(); }, seconds(40)));
    CHECK(faulty->health("status") == "ok");
    CHECK(faulty.board().clear() > 0);
    const auto lifted = steady_clock::now();
    CHECK(eventually([&] { return !faulty.is_refused(); }, seconds(20)));
    CHECK(steady_clock::now() - lifted < seconds(15));
    CHECK(faulty->finished(id)["result"]["cause"] == "exited");
    CHECK(eventually([&] { return !faulty->finished(id).contains("recorded"); }));
    check_is_read(faulty);
    check_ledger(faulty.daemon(), told);
    faulty.check_nothing_left();
  }
}

TEST_CASE("while another program keeps the ledger locked runs are refused, and not after it") {
  FaultyDaemon faulty;
  Told told;
  const std::string id = faulty->start(shell("sleep 1; echo x"));
  told.run(id);
  faulty.know(id);
  faulty->wait_until_started(id);
  {
    const OtherProgram other(ledger_of(faulty.daemon()));
    CHECK(eventually([&] { return faulty.is_refused(); }));
    const json run = faulty->finished(id);
    CHECK(run["result"]["cause"] == "exited");
    CHECK(run["recorded"] == false);
  }
  CHECK(eventually([&] { return !faulty.is_refused(); }, seconds(10)));
  CHECK_FALSE(faulty->finished(id).contains("recorded"));
  check_is_read(faulty);
  told.outcome(id, "exited");
  check_ledger(faulty.daemon(), told);
  faulty.check_nothing_left();
}

TEST_CASE(
    "a daemon whose ledger is locked or damaged does not start, says so, and changes nothing") {
  DaemonFixture daemon;
  const std::string id = daemon.run(quick())["id"];
  daemon.signal(SIGTERM);
  CHECK(daemon.wait_for_end().exit_status == 0);
  const std::string ledger = ledger_of(daemon);
  {
    const OtherProgram other(ledger, "EXCLUSIVE");
    check_not_started(daemon, "another program keeps it locked");
  }
  const std::string whole = content_of(ledger);
  REQUIRE(whole.size() > 8192);
  std::string overwritten = whole;
  std::fill(overwritten.begin() + 4096, overwritten.end(), 'x');
  for (const std::string& damaged :
       {std::string(8192, 'x'), whole.substr(0, whole.size() / 2), overwritten}) {
    put_content(ledger, damaged);
    check_not_started(daemon, "it is ");  // damaged, or no database
    const std::string left = content_of(ledger);
    CHECK(left.size() == damaged.size());
    const auto differs = std::mismatch(damaged.begin(), damaged.end(), left.begin(), left.end());
    INFO("the first byte that differs is " << differs.first - damaged.begin());
    CHECK((left == damaged));  // and not printed
  }
  put_content(ledger, whole);
  daemon.start_again();
  CHECK(daemon.get("/v1/runs/" + id).json()["result"]["cause"] == "exited");
}
