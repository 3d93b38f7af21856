#include "supervisor/ledger/ledger_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "kernel/base/fd.hpp"
#include "supervisor/ledger/chain.hpp"
#include "supervisor/ledger/file_names.hpp"
#include "supervisor/ledger/lock_file.hpp"
#include "supervisor/ledger/reserve_file.hpp"
#include "supervisor/ledger/retention.hpp"
#include "supervisor/ledger/rows.hpp"
#include "supervisor/ledger/schema.hpp"
#include "supervisor/ledger/sqlite.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

// Commits wait for a step: it is to take no longer than some tens of milliseconds.
constexpr int prune_step_events = 250;
constexpr int vacuum_step_pages = 250;
constexpr int cache_kib = 8192;
constexpr std::int64_t wal_kept_bytes = 64 << 20;  // it is cut to this when it starts anew

// SQLite would make it with the mode that the umask leaves.
Result<void> make_private_file(const std::string& path) {
  const kernel::Fd fd(
      ::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0)
    return fail(ErrorCode::not_recorded,
                "open ledger '" + path + "': " + kernel::errno_text(errno));
  if (!S_ISREG(info.st_mode))
    return fail(ErrorCode::not_recorded, "ledger '" + path + "' is not a regular file");
  return {};
}

void make_writable(SQLite::Database& database, LedgerSync sync) {
  prepare_connection(database);
  // Before the first table. Later it would change nothing, but write.
  if (database.execAndGet("PRAGMA page_count").getInt() == 0)
    database.exec("PRAGMA auto_vacuum = INCREMENTAL");
  database.exec("PRAGMA journal_mode = WAL");
  database.exec(sync == LedgerSync::full ? "PRAGMA synchronous = FULL"
                                         : "PRAGMA synchronous = NORMAL");
  database.exec("PRAGMA cache_size = -" + std::to_string(cache_kib));
  database.exec("PRAGMA journal_size_limit = " + std::to_string(wal_kept_bytes));
  migrate(database, schema_migrations());
}

// The newest event, and whether its hash still fits: what comes next is chained to it.
Result<LedgerHead> read_head(Statements& statements, const std::string& path) {
  SQLite::Statement& newest =
      statements[std::string("SELECT ") + event_columns + " FROM events ORDER BY seq DESC LIMIT 2"];
  const ResetAtEnd reset_newest(newest);
  SQLite::Statement& anchor = statements["SELECT seq, hash FROM anchor"];
  const ResetAtEnd reset_anchor(anchor);
  LedgerHead before{.seq = 0, .hash = hash_before_all};
  if (anchor.executeStep())
    before = {.seq = static_cast<std::uint64_t>(anchor.getColumn(0).getInt64()),
              .hash = anchor.getColumn(1).getString()};
  if (!newest.executeStep()) {
    if (before.seq == 0) return before;
    return fail(ErrorCode::not_recorded, "ledger '" + path + "': it is damaged: no event is left");
  }
  const StoredEvent head = event_in(newest);
  const std::string rows = encoded_rows_in(newest);
  if (newest.executeStep()) {
    const StoredEvent previous = event_in(newest);
    before = {.seq = previous.seq, .hash = previous.hash};
  }
  if (head.seq != before.seq + 1 ||
      head.hash != event_hash(before.hash, head.seq, head.event, rows))
    return fail(ErrorCode::not_recorded,
                "ledger '" + path + "': event " + std::to_string(head.seq) +
                    ", the newest, has been edited; see `paddock ledger verify`, and move the file "
                    "away to start with a new one");
  return LedgerHead{.seq = head.seq, .hash = head.hash};
}

}  // namespace

struct LedgerWriter::Implementation {
  Implementation(const std::string& path_of_ledger, LedgerSync how, LockFile held)
      : path(path_of_ledger),
        sync(how),
        lock(std::move(held)),
        reserve(reserve_path(path_of_ledger)) {}

  // Calls `work`, which may throw, and remembers what kind of failure it was.
  template <class Work>
  auto attempt(Work work) -> decltype(work()) {
    is_full = is_locked_out = false;
    try {
      return work();
    } catch (const SQLite::Exception& failure) {
      const int errno_value = database ? last_errno(*database) : 0;
      const SqliteFault fault = fault_of(failure.getErrorCode(), errno_value);
      is_full = fault == SqliteFault::full;
      is_locked_out = fault == SqliteFault::busy;
      return tl::unexpected<kernel::Error>(ledger_error(path, failure, errno_value));
    }
  }

  // Both are tried again with the reserve's room.
  Result<void> check_before_opening();
  Result<void> connect();
  void disconnect();

  // Throws, as all below.
  LedgerHead append(const LedgerHead& after, const Event& event,
                    const std::vector<WrittenRow>& rows);
  LedgerHead apply_one(const LedgerHead& after, const Transition& transition);
  std::uint64_t used_bytes();
  Result<std::vector<WrittenRow>> rows_written_until(std::uint64_t last_seq);
  bool must_stay(const WrittenRow& row);
  Result<void> delete_until(const LedgerHead& last, std::size_t events,
                            std::chrono::system_clock::time_point now);

  std::string path;
  LedgerSync sync;
  LockFile lock;  // given up last
  ReserveFile reserve;
  std::optional<SQLite::Database> database;  // none while it could not be opened again
  std::optional<Statements> statements;
  std::optional<LedgerHead> head;  // none before it was first read
  bool is_full = false;
  bool is_locked_out = false;
};

// With a connection that cannot change anything, so that nothing is changed if it is not ours.
Result<void> LedgerWriter::Implementation::check_before_opening() {
  const Result<void> checked = attempt([&]() -> Result<void> {
    database.emplace(path, SQLite::OPEN_READONLY);
    prepare_connection(*database);
    return check_is_ledger(*database, path);
  });
  database.reset();
  return checked;
}

Result<void> LedgerWriter::Implementation::connect() {
  if (database) return {};
  const Result<void> connected = attempt([&]() -> Result<void> {
    database.emplace(path, SQLite::OPEN_READWRITE | SQLite::OPEN_NOFOLLOW);
    make_writable(*database, sync);
    statements.emplace(*database);
    const LedgerHead found = TRY(read_head(*statements, path));
    // What the next event is chained to. A commit that failed to this process may be in the file
    // all the same: to find out what it holds is recovery's.
    if (head && found != *head)
      return fail(ErrorCode::not_recorded,
                  "ledger '" + path + "': its newest event is " + std::to_string(found.seq) +
                      " and not " + std::to_string(head->seq) + "; start paddockd again");
    head = found;
    return {};
  });
  if (!connected) disconnect();
  return connected;
}

void LedgerWriter::Implementation::disconnect() {
  statements.reset();
  database.reset();
}

LedgerHead LedgerWriter::Implementation::append(const LedgerHead& after, const Event& event,
                                                const std::vector<WrittenRow>& rows) {
  const std::string encoded = encode_rows(rows);
  const std::uint64_t seq = after.seq + 1;
  StoredEvent stored{.seq = seq, .event = event, .hash = {}};
  stored.hash = event_hash(after.hash, seq, event, encoded);
  put_event(*statements, stored, encoded);
  return {.seq = seq, .hash = stored.hash};
}

LedgerHead LedgerWriter::Implementation::apply_one(const LedgerHead& after,
                                                   const Transition& transition) {
  const std::uint64_t seq = after.seq + 1;
  std::vector<WrittenRow> rows;
  if (transition.policy && add_policy(*statements, *transition.policy, seq))
    rows.push_back(written(*transition.policy));
  if (transition.run) {
    put_run(*statements, *transition.run, seq);
    rows.push_back(written(*transition.run));
  }
  if (transition.agent) {
    put_agent(*statements, *transition.agent, seq);
    rows.push_back(written(*transition.agent));
  }
  for (const BudgetRow& budget : transition.budgets) {
    put_budget(*statements, budget, seq);
    std::erase_if(rows, [key = key_of(budget)](const WrittenRow& row) {
      return row.kind == RowKind::budget && row.key == key;  // the last one counts
    });
    rows.push_back(written(budget));
  }
  if (transition.verdict) {
    put_verdict(*statements, *transition.verdict, seq);
    rows.push_back(written(*transition.verdict, seq));
  }
  return append(after, transition.event, rows);
}

std::uint64_t LedgerWriter::Implementation::used_bytes() {
  const auto value = [this](const char* pragma) {
    return static_cast<std::uint64_t>(database->execAndGet(pragma).getInt64());
  };
  return (value("PRAGMA page_count") - value("PRAGMA freelist_count")) * value("PRAGMA page_size");
}

// The rows that the events up to `last_seq` wrote and no later one, with the digests that those
// gave them: if a row has been edited since, that is not covered up.
Result<std::vector<WrittenRow>> LedgerWriter::Implementation::rows_written_until(
    std::uint64_t last_seq) {
  std::vector<WrittenRow> rows;
  SQLite::Statement& events =
      (*statements)["SELECT seq, rows FROM events WHERE seq <= ? ORDER BY seq"];
  const ResetAtEnd reset(events);
  bound(events, last_seq);
  while (events.executeStep()) {
    const auto seq = static_cast<std::uint64_t>(events.getColumn(0).getInt64());
    const auto named = decode_rows(events.getColumn(1).getString());
    if (!named)
      return fail(ErrorCode::not_recorded, "ledger '" + path + "': event " + std::to_string(seq) +
                                               " has been edited; see `paddock ledger verify`");
    for (const WrittenRow& row : *named) {
      const auto current = current_row(*statements, row.kind, row.key);
      if (current && current->event_seq == seq) rows.push_back(row);
    }
  }
  return rows;
}

bool LedgerWriter::Implementation::must_stay(const WrittenRow& row) {
  if (row.kind == RowKind::verdict) return false;
  if (row.kind != RowKind::run && row.kind != RowKind::policy) return true;
  SQLite::Statement& question =
      (*statements)[row.kind == RowKind::run
                        ? "SELECT 1 FROM runs WHERE id = ? AND state <> 'finished'"
                        : "SELECT 1 FROM runs WHERE policy_hash = ? LIMIT 1"];
  const ResetAtEnd reset(question);
  return bound(question, row.key).executeStep();
}

Result<void> LedgerWriter::Implementation::delete_until(const LedgerHead& last, std::size_t events,
                                                        std::chrono::system_clock::time_point now) {
  SQLite::Transaction transaction(*database, SQLite::TransactionBehavior::IMMEDIATE);
  const std::vector<WrittenRow> rows = TRY(rows_written_until(last.seq));
  std::vector<WrittenRow> staying;
  std::size_t runs = 0;
  const auto sort_out = [&](const WrittenRow& row) {
    if (must_stay(row)) {
      staying.push_back(row);
      return;
    }
    erase_row(*statements, row.kind, row.key);
    if (row.kind == RowKind::run) ++runs;
  };
  // Policies last: whether one stays depends on the runs that do.
  for (const WrittenRow& row : rows)
    if (row.kind != RowKind::policy) sort_out(row);
  for (const WrittenRow& row : rows)
    if (row.kind == RowKind::policy) sort_out(row);
  bound((*statements)["DELETE FROM events WHERE seq <= ?"], last.seq).exec();
  bound((*statements)["INSERT INTO anchor (only, seq, hash) VALUES (1, ?, ?) "
                      "ON CONFLICT (only) DO UPDATE SET seq = excluded.seq, hash = excluded.hash"],
        last.seq, last.hash)
      .exec();
  const Event pruned{.kind = std::string(pruned_kind),
                     .subject = {},
                     .tenant = {},
                     .body = pruned_body(last, events, runs),
                     .at = now};
  const LedgerHead new_head = append(*head, pruned, staying);
  for (const WrittenRow& row : staying) set_event_seq(*statements, row.kind, row.key, new_head.seq);
  transaction.commit();
  head = new_head;
  return {};
}

Result<LedgerWriter> LedgerWriter::open(const std::string& path, LedgerSync sync) {
  LockFile lock = TRY(LockFile::acquire(lock_path(path)));
  TRY_VOID(make_private_file(path));
  auto made = std::make_unique<Implementation>(path, sync, std::move(lock));
  const auto connect = [&made]() -> Result<void> {
    TRY_VOID(made->check_before_opening());
    return made->connect();
  };
  Result<void> connected = connect();
  if (!connected && made->is_full) {
    // SQLite needs some pages of its own beside the ledger before it can read it.
    made->reserve.remove();
    connected = connect();
  }
  TRY_VOID(connected);
  // Without it what has happened can perhaps still be recorded: has_reserve() tells.
  [[maybe_unused]] const Result<void> reserved = made->reserve.make();
  return LedgerWriter(std::move(made));
}

LedgerWriter::LedgerWriter(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
LedgerWriter::LedgerWriter(LedgerWriter&&) noexcept = default;
LedgerWriter& LedgerWriter::operator=(LedgerWriter&&) noexcept = default;
LedgerWriter::~LedgerWriter() = default;

const LedgerHead& LedgerWriter::head() const {
  return *implementation_->head;
}

Result<std::uint64_t> LedgerWriter::apply(std::span<const Transition> transitions) {
  Implementation& self = *implementation_;
  TRY_VOID(self.connect());
  const std::uint64_t first_seq = self.head->seq + 1;
  return self.attempt([&]() -> Result<std::uint64_t> {
    SQLite::Transaction transaction(*self.database, SQLite::TransactionBehavior::IMMEDIATE);
    LedgerHead head = *self.head;
    for (const Transition& one : transitions) head = self.apply_one(head, one);
    transaction.commit();
    self.head = head;
    return first_seq;
  });
}

bool LedgerWriter::is_full() const {
  return implementation_->is_full;
}

Result<std::size_t> LedgerWriter::prune(const LedgerLimits& limits,
                                        std::chrono::system_clock::time_point now) {
  Implementation& self = *implementation_;
  TRY_VOID(self.connect());
  return self.attempt([&]() -> Result<std::size_t> {
    std::vector<AgedEvent> oldest;
    std::vector<LedgerHead> places;
    {
      SQLite::Statement& events =
          (*self.statements)["SELECT seq, hash, at_us, kind FROM events ORDER BY seq LIMIT ?"];
      const ResetAtEnd reset(events);
      bound(events, prune_step_events);
      while (events.executeStep()) {
        places.push_back({.seq = static_cast<std::uint64_t>(events.getColumn(0).getInt64()),
                          .hash = events.getColumn(1).getString()});
        oldest.push_back({.at_us = events.getColumn(2).getInt64(),
                          .is_pruning = events.getColumn(3).getString() == pruned_kind});
      }
    }
    const std::size_t count =
        events_to_delete(oldest, to_microseconds(now - limits.keep), to_microseconds(now),
                         self.used_bytes() > limits.keep_bytes);
    if (count == 0) return 0;
    TRY_VOID(self.delete_until(places[count - 1], count, now));
    // What this gives back to the disk is a bonus; freed pages are used again anyway.
    self.database->tryExec("PRAGMA incremental_vacuum(" + std::to_string(vacuum_step_pages) + ")");
    return count;
  });
}

bool LedgerWriter::is_locked_out() const {
  return implementation_->is_locked_out;
}

Result<void> LedgerWriter::reconnect() {
  implementation_->disconnect();
  return implementation_->connect();
}

void LedgerWriter::release_reserve() {
  implementation_->reserve.remove();
}

Result<void> LedgerWriter::restore_reserve() {
  return implementation_->reserve.make();
}

bool LedgerWriter::has_reserve() const {
  return implementation_->reserve.is_made();
}

}  // namespace paddock::supervisor
