#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <SQLiteCpp/SQLiteCpp.h>

#include <array>

#include "ledger_fixture.hpp"
#include "supervisor/ledger/schema.hpp"
#include "supervisor/ledger/sqlite.hpp"

using namespace paddock::supervisor;
using namespace paddock::tests;
using paddock::kernel::ErrorCode;

namespace {

mode_t mode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 0777;
}

// Makes SQLite refuse the events of one subject.
std::string refuse(const std::string& subject) {
  return "CREATE TRIGGER refuse BEFORE INSERT ON events WHEN new.subject = '" + subject +
         "' BEGIN SELECT RAISE(ABORT, 'refused'); END";
}

}  // namespace

TEST_CASE_METHOD(LedgerDirectory, "a new ledger's files are for their owner alone") {
  const mode_t umask_before = ::umask(0);
  LedgerWriter writer = open();
  ::umask(umask_before);
  REQUIRE(writer.apply(std::array{sample_transition(1, "starting")}));
  for (const std::string& file : {path(), path() + "-wal", path() + "-shm", lock(), reserve()})
    CHECK(mode_of(file) == 0600);
}

TEST_CASE_METHOD(LedgerDirectory, "transitions are numbered from 1 on, also by the next writer") {
  {
    LedgerWriter writer = open();
    CHECK(writer.head().seq == 0);
    CHECK(writer.apply(std::array{sample_transition(1, "starting")}) == 1u);
    CHECK(writer.apply(
              std::array{sample_transition(1, "running"), sample_transition(2, "starting")}) == 2u);
    CHECK(writer.head().seq == 3);
  }
  LedgerWriter next = open();
  CHECK(next.head().seq == 3);
  CHECK(next.apply(std::array{sample_transition(1, "finished")}) == 4u);
  CHECK_FALSE(verify().edit);
}

TEST_CASE_METHOD(LedgerDirectory, "transitions that are written together are written all or none") {
  LedgerWriter writer = open();
  edit(refuse("r-2"));
  const auto failed =
      writer.apply(std::array{sample_transition(1, "starting"), sample_transition(2, "starting"),
                              sample_transition(3, "starting")});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == ErrorCode::not_recorded);
  CHECK(failed.error().message.find(path()) != std::string::npos);
  CHECK_FALSE(writer.is_full());
  for (const char* table : {"events", "runs", "policies"})
    CHECK(ask("SELECT count(*) FROM " + std::string(table)) == 0);
  CHECK(writer.head().seq == 0);
  CHECK(writer.apply(std::array{sample_transition(1, "starting")}) == 1u);
  edit("DROP TRIGGER refuse");  // it is an edit itself
  CHECK_FALSE(verify().edit);
}

TEST_CASE_METHOD(LedgerDirectory, "an event and its rows are written together or not at all") {
  LedgerWriter writer = open();
  edit("CREATE TRIGGER refuse BEFORE INSERT ON budgets BEGIN SELECT RAISE(ABORT, 'refused'); END");
  Transition transition = sample_transition(1, "starting");
  transition.agent = AgentRow{.name = "a", .wanted = "running"};
  transition.budgets.resize(1);
  REQUIRE_FALSE(writer.apply(std::array{transition}));
  for (const char* table : {"events", "runs", "policies", "agents", "budgets"})
    CHECK(ask("SELECT count(*) FROM " + std::string(table)) == 0);
}

TEST_CASE_METHOD(LedgerDirectory,
                 "a ledger that somebody holds is not opened, and the pid is told") {
  std::optional<LedgerWriter> first = open();
  const auto second = LedgerWriter::open(path(), LedgerSync::normal);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::not_recorded);
  CHECK(second.error().message.find("process " + std::to_string(::getpid()) + " has the ledger") !=
        std::string::npos);
  CHECK(second.error().message.find(lock()) != std::string::npos);
  first.reset();
  CHECK(LedgerWriter::open(path(), LedgerSync::normal));
}

TEST_CASE_METHOD(LedgerDirectory, "a writer that another program keeps waiting says so") {
  LedgerWriter writer = open();
  SQLite::Database other(path(), SQLite::OPEN_READWRITE);
  std::optional<SQLite::Transaction> hold;
  hold.emplace(other, SQLite::TransactionBehavior::IMMEDIATE);
  const auto failed = writer.apply(std::array{sample_transition(1, "starting")});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message == "ledger '" + path() +
                                      "': another program keeps it locked, or "
                                      "the system gives out no locks");
  hold.reset();
  CHECK(writer.apply(std::array{sample_transition(1, "starting")}) == 1u);
}

TEST_CASE_METHOD(LedgerDirectory, "a migration that fails leaves the version before it") {
  {
    SQLite::Database database(path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    const std::array good_and_bad = {"CREATE TABLE one (a)",
                                     "CREATE TABLE two (a); INSERT INTO nowhere VALUES (1)"};
    CHECK_THROWS_AS(migrate(database, good_and_bad), SQLite::Exception);
    CHECK(database.execAndGet("PRAGMA user_version").getInt() == 1);
    CHECK(database.tableExists("one"));
    CHECK_FALSE(database.tableExists("two"));
    const std::array mended = {"not SQL: it is never run again", "CREATE TABLE two (a)"};
    migrate(database, mended);
    CHECK(database.execAndGet("PRAGMA user_version").getInt() == 2);
  }
}

TEST_CASE_METHOD(LedgerDirectory, "a ledger that was made but never filled is filled") {
  const int fd = ::open(path().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0);
  ::close(fd);
  CHECK(open().apply(std::array{sample_transition(1, "starting")}) == 1u);
}

TEST_CASE("every code of a full disk is known as one") {
  CHECK(fault_of(13, 0) == SqliteFault::full);       // SQLITE_FULL
  CHECK(fault_of(10, ENOSPC) == SqliteFault::full);  // SQLITE_IOERR
  CHECK(fault_of(10, EDQUOT) == SqliteFault::full);
  CHECK(fault_of(10, EFBIG) == SqliteFault::full);
  CHECK(fault_of(10 | (3 << 8), ENOSPC) == SqliteFault::full);
  CHECK(fault_of(10, EIO) == SqliteFault::other);
  CHECK(fault_of(5 | (1 << 8), 0) == SqliteFault::busy);
  CHECK(fault_of(11, 0) == SqliteFault::damaged);
  CHECK(fault_of(26, 0) == SqliteFault::not_a_database);
  CHECK(fault_of(0, ENOSPC) == SqliteFault::none);
}
