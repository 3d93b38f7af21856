#include "supervisor/ledger/ledger_reader.hpp"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include <sqlite3.h>

#include "supervisor/ledger/chain.hpp"
#include "supervisor/ledger/rows.hpp"
#include "supervisor/ledger/schema.hpp"
#include "supervisor/ledger/sqlite.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

constexpr std::size_t run_events_max = 1000;

// A WHERE clause that grows, with its values: the text decides which index is used, so a condition
// that is not asked for is not in it.
class Conditions {
 public:
  void add(const std::string& condition, std::string value) {
    text_ += (values_.empty() ? " WHERE " : " AND ") + condition;
    values_.push_back(std::move(value));
  }
  void add_if(const std::optional<std::string>& value, const std::string& condition) {
    if (value) add(condition, *value);
  }
  const std::string& text() const { return text_; }
  // Returns the place of the next parameter.
  int bind_to(SQLite::Statement& statement) const {
    bound(statement);
    int at = 0;
    for (const std::string& value : values_) bind_value(statement, ++at, value);
    return at + 1;
  }

 private:
  std::string text_;
  std::vector<std::string> values_;
};

template <class Row>
std::vector<Row> all_of(SQLite::Statement& statement, Row (*row_in)(SQLite::Statement&)) {
  const ResetAtEnd reset(statement);
  std::vector<Row> rows;
  while (statement.executeStep()) rows.push_back(row_in(statement));
  return rows;
}

}  // namespace

struct LedgerReader::Implementation {
  Implementation(const std::string& path_of_ledger, int flags)
      : path(path_of_ledger), database(path, flags | SQLite::OPEN_NOFOLLOW), statements(database) {}

  std::string path;
  SQLite::Database database;
  Statements statements;
};

Result<LedgerReader> LedgerReader::open(const std::string& path) {
  return open_with(path, Way::with_others);
}

Result<LedgerReader> LedgerReader::open_alone(const std::string& path) {
  return open_with(path, Way::alone);
}

Result<LedgerReader> LedgerReader::open_with(const std::string& path, Way way) {
  if (::access(path.c_str(), F_OK) != 0)
    return fail(
        errno == ENOENT || errno == ENOTDIR ? ErrorCode::not_found : ErrorCode::not_recorded,
        "open ledger '" + path + "': " + kernel::errno_text(errno));
  return guarded(path, [&]() -> Result<LedgerReader> {
    // To lock a file against all others takes one that is open for writing.
    auto made = std::make_unique<Implementation>(
        path, way == Way::alone ? SQLite::OPEN_READWRITE : SQLite::OPEN_READONLY);
    prepare_connection(made->database);
    if (way == Way::alone) {
      // The index of what is in the -wal file is in memory then, and the end of this leaves that
      // file as it is.
      made->database.exec("PRAGMA locking_mode = EXCLUSIVE");
      ::sqlite3_db_config(made->database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    }
    TRY_VOID(check_is_ledger(made->database, path));
    if (!made->database.tableExists("events"))
      return fail(ErrorCode::not_recorded, "ledger '" + path + "': it is empty");
    return LedgerReader(std::move(made));
  });
}

LedgerReader::LedgerReader(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
LedgerReader::LedgerReader(LedgerReader&&) noexcept = default;
LedgerReader& LedgerReader::operator=(LedgerReader&&) noexcept = default;
LedgerReader::~LedgerReader() = default;

Result<std::optional<StoredRun>> LedgerReader::run(const std::string& id) {
  Implementation& self = *implementation_;
  return guarded(self.path, [&]() -> Result<std::optional<StoredRun>> {
    // One snapshot for the row, its events and its policy.
    SQLite::Transaction snapshot(self.database);
    SQLite::Statement& row =
        self.statements[std::string("SELECT ") + run_columns + " FROM runs WHERE id = ?"];
    const ResetAtEnd reset_row(row);
    if (!bound(row, id).executeStep()) return std::optional<StoredRun>();
    StoredRun run{.row = run_in(row), .events = {}, .policy_text = {}};
    run.events =
        all_of(bound(self.statements[std::string("SELECT ") + event_columns +
                                     " FROM events WHERE subject = ? ORDER BY seq LIMIT ?"],
                     id, run_events_max),
               event_in);
    SQLite::Statement& policy = self.statements["SELECT text FROM policies WHERE hash = ?"];
    const ResetAtEnd reset_policy(policy);
    if (bound(policy, run.row.policy_hash).executeStep())
      run.policy_text = policy.getColumn(0).getString();
    return run;
  });
}

Result<std::vector<RunRow>> LedgerReader::runs(const RunFilter& filter) {
  Implementation& self = *implementation_;
  return guarded(self.path, [&]() -> Result<std::vector<RunRow>> {
    Conditions conditions;
    // The indexes of unfinished runs and of agents' runs are used only if the text says that they
    // hold all that is asked for.
    conditions.add_if(filter.state, filter.state == "finished"
                                        ? "state = ?"
                                        : "state <> 'finished' AND state = ?");
    conditions.add_if(filter.tenant, "tenant = ?");
    conditions.add_if(filter.agent, filter.agent == "" ? "agent = ?" : "agent <> '' AND agent = ?");
    conditions.add_if(filter.parent_is_not, "parent <> ?");
    SQLite::Statement& statement =
        self.statements[std::string("SELECT ") + run_columns + " FROM runs" + conditions.text() +
                        " ORDER BY number DESC LIMIT ?"];
    bind_value(statement, conditions.bind_to(statement), filter.limit);
    return all_of(statement, run_in);
  });
}

Result<std::vector<RunRow>> LedgerReader::unfinished_runs() {
  Implementation& self = *implementation_;
  return guarded(self.path, [&]() -> Result<std::vector<RunRow>> {
    return all_of(
        bound(self.statements[std::string("SELECT ") + run_columns +
                              " FROM runs INDEXED BY runs_unfinished WHERE state <> 'finished' "
                              "ORDER BY number"]),
        run_in);
  });
}

Result<std::vector<StoredEvent>> LedgerReader::events(const EventFilter& filter) {
  Implementation& self = *implementation_;
  return guarded(self.path, [&]() -> Result<std::vector<StoredEvent>> {
    Conditions conditions;
    conditions.add("seq > CAST(? AS INTEGER)", std::to_string(filter.after));
    conditions.add_if(filter.tenant, "tenant = ?");
    conditions.add_if(filter.subject, "subject = ?");
    if (!filter.kind_prefix.empty()) conditions.add("instr(kind, ?) = 1", filter.kind_prefix);
    SQLite::Statement& statement =
        self.statements[std::string("SELECT ") + event_columns + " FROM events" +
                        conditions.text() + " ORDER BY seq LIMIT ?"];
    bind_value(statement, conditions.bind_to(statement), filter.limit);
    return all_of(statement, event_in);
  });
}

Result<std::vector<AgentRow>> LedgerReader::agents() {
  Implementation& self = *implementation_;
  return guarded(self.path, [&]() -> Result<std::vector<AgentRow>> {
    return all_of(
        bound(
            self.statements[std::string("SELECT ") + agent_columns + " FROM agents ORDER BY name"]),
        agent_in);
  });
}

Result<std::vector<BudgetRow>> LedgerReader::budgets() {
  Implementation& self = *implementation_;
  return guarded(self.path, [&]() -> Result<std::vector<BudgetRow>> {
    return all_of(bound(self.statements[std::string("SELECT ") + budget_columns +
                                        " FROM budgets ORDER BY agent, dimension"]),
                  budget_in);
  });
}

// An empty request_id or nonce is none, and in no index.
Result<std::vector<VerdictRow>> LedgerReader::verdicts_of(const std::string& tenant,
                                                          const std::string& request_id) {
  Implementation& self = *implementation_;
  return guarded(self.path, [&]() -> Result<std::vector<VerdictRow>> {
    return all_of(bound(self.statements[std::string("SELECT ") + verdict_columns +
                                        " FROM verdicts WHERE request_id <> '' AND tenant = ? AND "
                                        "request_id = ? ORDER BY event_seq LIMIT ?"],
                        tenant, request_id, verdicts_of_request_max),
                  verdict_in);
  });
}

// After the first verdict of the request, which is found by an index.
Result<std::set<std::string>> LedgerReader::groups_of(const std::string& tenant,
                                                      const std::string& request_id) {
  Implementation& self = *implementation_;
  return guarded(self.path, [&]() -> Result<std::set<std::string>> {
    SQLite::Statement& question =
        self.statements
            ["SELECT json_extract(body, '$.group') FROM events WHERE seq > (SELECT min(event_seq) "
             "FROM verdicts WHERE request_id <> '' AND tenant = ?1 AND request_id = ?2) AND "
             "kind = 'verify.group' AND tenant = ?1 AND json_extract(body, '$.request_id') = ?2"];
    const ResetAtEnd reset(question);
    bound(question, tenant, request_id);
    std::set<std::string> groups;
    while (question.executeStep()) groups.insert(question.getColumn(0).getString());
    return groups;
  });
}

Result<std::set<std::string>> LedgerReader::nonces_seen(const std::string& tenant,
                                                        std::span<const std::string> nonces) {
  Implementation& self = *implementation_;
  return guarded(self.path, [&]() -> Result<std::set<std::string>> {
    SQLite::Statement& question =
        self.statements
            ["SELECT 1 FROM verdicts WHERE nonce <> '' AND tenant = ? AND nonce = ? "
             "LIMIT 1"];
    std::set<std::string> seen;
    for (const std::string& nonce : nonces) {
      const ResetAtEnd reset(question);
      if (bound(question, tenant, nonce).executeStep()) seen.insert(nonce);
    }
    return seen;
  });
}

Result<LedgerHead> LedgerReader::head() {
  Implementation& self = *implementation_;
  return guarded(self.path, [&]() -> Result<LedgerHead> {
    SQLite::Statement& statement =
        self.statements["SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1"];
    const ResetAtEnd reset(statement);
    if (!bound(statement).executeStep()) return LedgerHead{.seq = 0, .hash = hash_before_all};
    return LedgerHead{.seq = static_cast<std::uint64_t>(statement.getColumn(0).getInt64()),
                      .hash = statement.getColumn(1).getString()};
  });
}

}  // namespace paddock::supervisor
