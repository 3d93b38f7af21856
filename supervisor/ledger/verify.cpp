#include "supervisor/ledger/verify.hpp"

#include <charconv>
#include <utility>

#include "supervisor/ledger/chain.hpp"
#include "supervisor/ledger/ledger_reader.hpp"
#include "supervisor/ledger/retention.hpp"
#include "supervisor/ledger/rows.hpp"
#include "supervisor/ledger/schema.hpp"
#include "supervisor/ledger/sqlite.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

constexpr std::size_t hash_digits = 64;

std::string number(std::uint64_t seq) {
  return std::to_string(seq);
}

std::string named(const WrittenRow& row) {
  if (row.kind == RowKind::budget) return "the budget " + row.key;
  return "the row of " + std::string(name_of(row.kind)) + " " + row.key;
}

// One pass over the events. A row says which event wrote it last; it must stand as that event has
// it, no later event may have written it, and no row may be without an event.
class LedgerPass {
 public:
  LedgerPass(SQLite::Database& database, const std::optional<LedgerHead>& remembered)
      : database_(database), statements_(database), remembered_(remembered) {}

  Result<Verification> verify(const std::string& path) {
    // First: a trigger, or a view in place of a table, would do more than the rows show.
    if (std::string edit = schema_edit(database_); !edit.empty()) {
      report(0, std::move(edit));
      return std::move(found_);
    }
    read_anchor();
    if (remembered_ && remembered_->seq < found_.anchor.seq)
      return fail(ErrorCode::not_recorded,
                  "ledger '" + path + "': nothing is known of event " + number(remembered_->seq) +
                      " any more: events up to " + number(found_.anchor.seq) + " have been pruned");
    compare_with_remembered(found_.anchor);
    check_events();
    if (!found_.edit) check_anchor();
    if (!found_.edit && remembered_ && remembered_->seq > found_.head.seq)
      report(found_.head.seq, "the end is missing: the head was event " + number(remembered_->seq) +
                                  ", and the last event is " + number(found_.head.seq));
    if (!found_.edit) check_counts();
    return std::move(found_);
  }

 private:
  void report(std::uint64_t seq, std::string what) {
    if (!found_.edit) found_.edit = {.seq = seq, .what = std::move(what)};
  }

  void read_anchor() {
    SQLite::Statement& anchor = statements_["SELECT seq, hash FROM anchor"];
    const ResetAtEnd reset(anchor);
    found_.anchor = {.seq = 0, .hash = hash_before_all};
    if (anchor.executeStep())
      found_.anchor = {.seq = static_cast<std::uint64_t>(anchor.getColumn(0).getInt64()),
                       .hash = anchor.getColumn(1).getString()};
    found_.head = found_.anchor;
  }

  void check_events() {
    SQLite::Statement& events =
        statements_[std::string("SELECT ") + event_columns + " FROM events ORDER BY seq"];
    const ResetAtEnd reset(events);
    while (!found_.edit && events.executeStep()) {
      const StoredEvent stored = event_in(events);
      check_event(stored, encoded_rows_in(events));
    }
  }

  void check_event(const StoredEvent& stored, const std::string& encoded_rows) {
    const std::uint64_t seq = found_.head.seq + 1;
    if (stored.seq != seq)
      return report(seq, stored.seq > seq ? "event " + number(seq) + " is missing"
                                          : "event " + number(stored.seq) + " should be pruned");
    if (stored.hash != event_hash(found_.head.hash, seq, stored.event, encoded_rows))
      return report(seq, "event " + number(seq) + " has been edited");
    const auto rows = decode_rows(encoded_rows);
    if (!rows) return report(seq, "event " + number(seq) + " has been edited");
    for (const WrittenRow& row : *rows) check_row(seq, row);
    if (stored.event.kind == pruned_kind) last_pruned_body_ = stored.event.body;
    found_.head = {.seq = seq, .hash = stored.hash};
    ++found_.events;
    compare_with_remembered(found_.head);
  }

  void check_row(std::uint64_t seq, const WrittenRow& row) {
    // An older version's file has fewer tables.
    const auto current = database_.tableExists(table_of(row.kind))
                             ? current_row(statements_, row.kind, row.key)
                             : std::nullopt;
    if (!current)
      return report(seq, named(row) + ", that event " + number(seq) + " wrote, is missing");
    if (current->event_seq > seq) return;  // a later event has it
    if (current->event_seq < seq)
      return report(seq, named(row) + " is an older one than event " + number(seq) + " wrote");
    if (current->row.digest != row.digest)
      return report(seq, named(row) + " has been edited since event " + number(seq) + " wrote it");
    ++found_.rows;
  }

  void compare_with_remembered(const LedgerHead& place) {
    if (!remembered_ || remembered_->seq != place.seq || remembered_->hash == place.hash) return;
    report(place.seq, "event " + number(place.seq) + " is not the one that was remembered");
  }

  // Whoever moves the anchor to cut off the beginning must also forge a ledger.pruned.
  void check_anchor() {
    const LedgerHead nothing_pruned{.seq = 0, .hash = hash_before_all};
    const auto said = last_pruned_body_ ? anchor_in(*last_pruned_body_) : nothing_pruned;
    if (said != found_.anchor)
      report(found_.anchor.seq, "the events up to " + number(found_.anchor.seq) +
                                    " are missing, and no ledger.pruned says so");
  }

  // Each row was counted with the one event that wrote it last.
  void check_counts() {
    std::uint64_t rows = 0;
    for (const RowKind kind : row_kinds) {
      if (!database_.tableExists(table_of(kind))) continue;
      SQLite::Statement& count = statements_["SELECT count(*) FROM " + table_of(kind)];
      const ResetAtEnd reset(count);
      count.executeStep();
      rows += static_cast<std::uint64_t>(count.getColumn(0).getInt64());
    }
    if (rows != found_.rows)
      report(found_.head.seq, number(rows - found_.rows) + " rows are there that no event wrote" +
                                  example_of_stranger());
  }

  std::string example_of_stranger() {
    SQLite::Statement& run = statements_
        ["SELECT id FROM runs WHERE NOT EXISTS (SELECT 1 FROM events WHERE seq = runs.event_seq "
         "AND subject = runs.id) LIMIT 1"];
    const ResetAtEnd reset(run);
    return run.executeStep() ? ", among them run " + run.getColumn(0).getString() : "";
  }

  SQLite::Database& database_;
  Statements statements_;
  std::optional<LedgerHead> remembered_;
  std::optional<std::string> last_pruned_body_;
  Verification found_;
};

}  // namespace

std::string to_text(const LedgerHead& head) {
  return std::to_string(head.seq) + ":" + head.hash;
}

Result<LedgerHead> parse_ledger_head(const std::string& text) {
  LedgerHead head;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, head.seq);
  if (error == std::errc() && at != end && *at == ':') head.hash = std::string(at + 1, end);
  if (head.hash.size() != hash_digits ||
      head.hash.find_first_not_of("0123456789abcdef") != std::string::npos)
    return fail(ErrorCode::invalid_request,
                "'" + text + "' is not SEQ:HASH, a number and 64 hexadecimal digits");
  return head;
}

Result<Verification> verify_ledger(const std::string& path,
                                   const std::optional<LedgerHead>& remembered) {
  TRY(LedgerReader::open(path));  // says clearly what is wrong with a file that is no ledger
  return guarded(path, [&]() -> Result<Verification> {
    SQLite::Database database(path, SQLite::OPEN_READONLY | SQLite::OPEN_NOFOLLOW);
    prepare_connection(database);
    const SQLite::Transaction snapshot(database);
    return LedgerPass(database, remembered).verify(path);
  });
}

}  // namespace paddock::supervisor
