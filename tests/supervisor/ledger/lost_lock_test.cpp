// Locks that the system does not give, or does not take back: fcntl(2) as SQLite calls it fails.

#include <fcntl.h>
#include <sqlite3.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>

#include "ledger_fixture.hpp"
#include <iostream>

using namespace paddock::supervisor;
using namespace paddock::tests;
using paddock::kernel::ErrorCode;
using paddock::kernel::Result;

namespace {

enum class Failing { nothing, locking, unlocking, both };

std::atomic<Failing> failing{Failing::nothing};

int failing_fcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  const Failing now = failing;
  if (command == F_SETLK && now != Failing::nothing) {
    const bool is_unlock = static_cast<struct flock*>(argument)->l_type == F_UNLCK;
    if (now == Failing::both || is_unlock == (now == Failing::unlocking)) {
      errno = ENOLCK;
      return -1;
    }
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
  const Transition one = sample_transition(1, "starting");
  failing = Failing::unlocking;
  REQUIRE(writer.apply({&one, 1}));
  failing = Failing::nothing;
  CHECK_FALSE(writer.apply({&one, 1}));
  CHECK(writer.is_locked_out());
  CHECK_FALSE(writer.apply({&one, 1}));  // and so on
  CHECK(writer.reconnect());
  CHECK(writer.apply({&one, 1}) == 2u);
  CHECK_FALSE(writer.is_locked_out());
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
