#pragma once
// The ledger's own use of SQLiteCpp: how a file is opened, how values are bound, and what a failure
// means to an operator. For .cpp files of the ledger. Exceptions end in guarded().

#include <concepts>
#include <string>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>

#include "kernel/base/error.hpp"

namespace paddock::supervisor {

// How long a connection waits for another one's lock: somebody looks at the file with other tools.
constexpr int busy_timeout_ms = 1000;

enum class SqliteFault { none, full, busy, damaged, not_a_database, other };

// `errno_value` is what the last system call said, for codes that do not tell.
SqliteFault fault_of(int sqlite_code, int errno_value);

// What the system said when a file of this connection could last not be read or written. Only of
// meaning after a failure.
int last_errno(SQLite::Database& database);

// "ledger 'PATH': the disk is full": names the file, the cause, and what to do where that is known.
kernel::Error ledger_error(const std::string& path, const SQLite::Exception& failure,
                           int errno_value);

// The result of `work`, or what became of its exception, as not_recorded.
template <class Work>
auto guarded(const std::string& path, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const SQLite::Exception& failure) {
    return tl::unexpected<kernel::Error>(ledger_error(path, failure, /*errno_value=*/0));
  }
}

// Sets what both kinds of connection need. Throws.
void prepare_connection(SQLite::Database& database);

inline void bind_value(SQLite::Statement& statement, int at, const std::string& text) {
  statement.bind(at, text);
}
inline void bind_value(SQLite::Statement& statement, int at, std::nullptr_t) {
  statement.bind(at);
}
template <std::integral Number>
void bind_value(SQLite::Statement& statement, int at, Number number) {
  statement.bind(at, static_cast<std::int64_t>(number));
}

// Makes a statement ready for its next use, whatever the one before came to. Throws.
template <class... Values>
SQLite::Statement& bound(SQLite::Statement& statement, const Values&... values) {
  statement.tryReset();
  statement.clearBindings();
  int at = 0;
  (bind_value(statement, ++at, values), ...);
  return statement;
}

// A statement that reads keeps its snapshot until it is reset.
class ResetAtEnd {
 public:
  explicit ResetAtEnd(SQLite::Statement& statement) : statement_(statement) {}
  ~ResetAtEnd() { statement_.tryReset(); }
  ResetAtEnd(const ResetAtEnd&) = delete;
  ResetAtEnd& operator=(const ResetAtEnd&) = delete;

 private:
  SQLite::Statement& statement_;
};

}  // namespace paddock::supervisor
