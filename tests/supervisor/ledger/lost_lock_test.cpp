// Locks that the system does not take back: fcntl(2) as SQLite calls it fails. Those that it does
// not give take SQLite 10 s: they are in tests/faults.

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <sqlite3.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>

#include <iostream>
#include "ledger_fixture.hpp"

using namespace paddock::supervisor;
using namespace paddock::tests;
using paddock::kernel::ErrorCode;
using paddock::kernel::Result;

namespace {

enum class Failing { nothing, unlocking };

std::atomic<Failing> failing{Failing::nothing};

int failing_fcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (command == F_SETLK && failing == Failing::unlocking &&
      static_cast<struct flock*>(argument)->l_type == F_UNLCK) {
    errno = ENOLCK;
    return -1;
  }
  return ::fcntl(fd, command, argument);
}

// What was said to fail does so until the end of the test.
class LockFaults {
 public:
  LockFaults() {
    sqlite3_vfs* const vfs = ::sqlite3_vfs_find(nullptr);
    REQUIRE(vfs->xSetSystemCall(
                vfs, "fcntl", reinterpret_cast<sqlite3_syscall_ptr>(&failing_fcntl)) == SQLITE_OK);
  }
  ~LockFaults() { failing = Failing::nothing; }
  LockFaults(const LockFaults&) = delete;
  LockFaults& operator=(const LockFaults&) = delete;
};

}  // namespace

TEST_CASE_METHOD(LedgerDirectory, "a lock that was not given back is, when the file is closed") {
  const LockFaults faults;
  LedgerWriter writer = open();
  {
    SQLite::Database sibling(path(), SQLite::OPEN_READWRITE);
    sibling.exec("BEGIN IMMEDIATE");
    failing = Failing::unlocking;
    sibling.exec("COMMIT");
  }
  failing = Failing::nothing;
  const Transition one = sample_transition(1, "starting");
  for (int tries = 0; tries < 2; ++tries) {
    CHECK_FALSE(writer.apply({&one, 1}));
    CHECK(writer.is_locked_out());
  }
  CHECK(writer.reconnect());
  CHECK_FALSE(writer.is_locked_out());
  CHECK(writer.apply({&one, 1}) == 1u);
}

TEST_CASE_METHOD(LedgerDirectory, "a running ledger opens its file again when it is locked out") {
  const LockFaults faults;
  const RunningLedger running(*this);
  {
    SQLite::Database sibling(path(), SQLite::OPEN_READWRITE);
    sibling.exec("BEGIN IMMEDIATE");
    failing = Failing::unlocking;
    sibling.exec("COMMIT");
  }
  failing = Failing::nothing;
  std::optional<Result<std::uint64_t>> refused;
  std::optional<Result<std::uint64_t>> kept;
  running.ledger->commit(sample_transition(1, "starting"), IfUnwritten::refuse,
                         [&](Result<std::uint64_t> seq) { refused = std::move(seq); });
  running.ledger->commit(sample_transition(2, "finished"), IfUnwritten::keep,
                         [&](Result<std::uint64_t> seq) { kept = std::move(seq); });
  running.wait_until([&] { return refused && kept && running.ledger->is_writing(); });
  REQUIRE_FALSE(*refused);
  CHECK(refused->error().code == ErrorCode::not_recorded);
  CHECK(*kept);
  std::optional<Result<std::vector<RunRow>>> runs;
  running.ledger->read<std::vector<RunRow>>(
      [](LedgerReader& reader) { return reader.runs({}); },
      [&](Result<std::vector<RunRow>> answer) { runs = std::move(answer); });
  running.wait_until([&] { return runs.has_value(); });
  CHECK(runs->value().size() == 1);
  CHECK_FALSE(verify().edit);
}

TEST_CASE_METHOD(LedgerDirectory,
                 "a ledger that is another one when it is opened again is not written") {
  write_runs(2);
  LedgerWriter writer = open();
  const std::uint64_t head = writer.head().seq;
  edit("DELETE FROM events WHERE seq = " + std::to_string(head));
  const auto reconnected = writer.reconnect();
  REQUIRE_FALSE(reconnected);
  CHECK_THAT(reconnected.error().message, Catch::Contains("start paddockd again"));
  const Transition one = sample_transition(3, "starting");
  CHECK_FALSE(writer.apply({&one, 1}));
  CHECK_FALSE(writer.prune(keep_all, std::chrono::system_clock::now()));
  CHECK(ask("SELECT max(seq) FROM events") == static_cast<std::int64_t>(head) - 1);
}
