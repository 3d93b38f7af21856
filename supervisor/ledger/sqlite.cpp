#include "supervisor/ledger/sqlite.hpp"

#include <sqlite3.h>

#include <cerrno>

namespace paddock::supervisor {
namespace {

using kernel::Error;
using kernel::ErrorCode;

constexpr int primary_code_mask = 0xff;

std::string meaning_of(SqliteFault fault, const SQLite::Exception& failure, int errno_value) {
  switch (fault) {
    case SqliteFault::full:
      return "the disk is full";
    case SqliteFault::busy:
      return "another program keeps it locked, or the system gives out no locks";
    case SqliteFault::damaged:
      return std::string("it is damaged (") + failure.what() +
             "); move it away to start with a new one";
    case SqliteFault::not_a_database:
      return "it is not a database; move it away to start with a new one";
    case SqliteFault::none:
    case SqliteFault::other:
      break;
  }
  const std::string text = failure.what();
  return errno_value == 0 ? text : text + ": " + kernel::errno_text(errno_value);
}

}  // namespace

SqliteFault fault_of(int sqlite_code, int errno_value) {
  switch (sqlite_code & primary_code_mask) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
      return SqliteFault::none;
    case SQLITE_FULL:
      return SqliteFault::full;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:  // of many tries, none got the lock
      return SqliteFault::busy;
    case SQLITE_CORRUPT:
      return SqliteFault::damaged;
    case SQLITE_NOTADB:
      return SqliteFault::not_a_database;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:  // a file beside the ledger cannot be made
      // SQLite knows ENOSPC alone as a full disk.
      if (errno_value == ENOSPC || errno_value == EDQUOT || errno_value == EFBIG)
        return SqliteFault::full;
      return SqliteFault::other;
    default:
      return SqliteFault::other;
  }
}

int last_errno(SQLite::Database& database) {
  // sqlite3_system_errno() does not know of a COMMIT that failed; the log's file does.
  sqlite3_file* log = nullptr;
  int value = 0;
  ::sqlite3_file_control(database.getHandle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (log != nullptr && log->pMethods != nullptr)
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &value);
  return value != 0 ? value : ::sqlite3_system_errno(database.getHandle());
}

Error ledger_error(const std::string& path, const SQLite::Exception& failure, int errno_value) {
  const SqliteFault fault = fault_of(failure.getErrorCode(), errno_value);
  return {ErrorCode::not_recorded,
          "ledger '" + path + "': " + meaning_of(fault, failure, errno_value)};
}

void prepare_connection(SQLite::Database& database) {
  database.setBusyTimeout(busy_timeout_ms);
  // The file may have been edited by somebody: its schema runs nothing, and its pages are checked.
  database.exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;");
}

}  // namespace paddock::supervisor
