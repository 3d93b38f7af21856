#include "supervisor/ledger/rows.hpp"

#include <string_view>
#include <utility>

#include "supervisor/ledger/fields.hpp"
#include "supervisor/ledger/sqlite.hpp"

namespace paddock::supervisor {
namespace {

// Reads one column after the other.
class Columns {
 public:
  explicit Columns(SQLite::Statement& statement) : statement_(statement) {}
  std::string text() { return statement_.getColumn(at_++).getString(); }
  std::int64_t number() { return statement_.getColumn(at_++).getInt64(); }
  std::uint64_t count() { return static_cast<std::uint64_t>(number()); }
  bool flag() { return number() != 0; }
  std::optional<kernel::ProcessMark> mark() {
    const bool is_absent = statement_.getColumn(at_).isNull();
    kernel::ProcessMark mark;
    mark.pid = pid();
    mark.start_ticks = count();
    mark.boot_id = text();
    return is_absent ? std::nullopt : std::optional(mark);
  }

 private:
  // One that no process can have, an edit's, is none; cut off it could be another's.
  pid_t pid() {
    const std::int64_t pid = number();
    return std::in_range<pid_t>(pid) ? static_cast<pid_t>(pid) : -1;
  }

  SQLite::Statement& statement_;
  int at_ = 0;
};

// Both parts of a budget's key.
std::pair<std::string, std::string> budget_key(std::string_view key) {
  auto agent = take_field(key);
  auto dimension = take_field(key);
  return {agent.value_or(""), dimension.value_or("")};
}

std::string key_condition(RowKind kind) {
  switch (kind) {
    case RowKind::run:
      return " WHERE id = ?1";
    case RowKind::policy:
      return " WHERE hash = ?1";
    case RowKind::agent:
      return " WHERE name = ?1";
    case RowKind::budget:
      return " WHERE agent = ?1 AND dimension = ?2";
    case RowKind::verdict:
      return " WHERE event_seq = ?1";
  }
  return "";
}

const char* columns_of(RowKind kind) {
  switch (kind) {
    case RowKind::run:
      return run_columns;
    case RowKind::policy:
      return policy_columns;
    case RowKind::agent:
      return agent_columns;
    case RowKind::budget:
      return budget_columns;
    case RowKind::verdict:
      return verdict_columns;
  }
  return "";
}

// The last of the columns, whatever the kind.
std::uint64_t event_seq_in(SQLite::Statement& statement) {
  const std::int64_t seq = statement.getColumn(statement.getColumnCount() - 1).getInt64();
  return static_cast<std::uint64_t>(seq);
}

WrittenRow written_in(SQLite::Statement& statement, RowKind kind) {
  switch (kind) {
    case RowKind::run:
      return written(run_in(statement));
    case RowKind::policy:
      return written(policy_in(statement));
    case RowKind::agent:
      return written(agent_in(statement));
    case RowKind::budget:
      return written(budget_in(statement));
    case RowKind::verdict:
      return written(verdict_in(statement), event_seq_in(statement));
  }
  return {};
}

SQLite::Statement& bind_key(SQLite::Statement& statement, RowKind kind, const std::string& key) {
  if (kind != RowKind::budget) return bound(statement, key);
  const auto [agent, dimension] = budget_key(key);
  return bound(statement, agent, dimension);
}

void bind_mark(SQLite::Statement& statement, int at,
               const std::optional<kernel::ProcessMark>& mark) {
  if (!mark) return;  // unbound is NULL
  bind_value(statement, at, mark->pid);
  bind_value(statement, at + 1, mark->start_ticks);
  bind_value(statement, at + 2, mark->boot_id);
}

constexpr const char* put_run_sql = R"(
INSERT INTO runs (id, state, tenant, profile, agent, parent, policy_hash, created_us, started_us,
  ended_us, cause, exit_code, cpu_us, wall_us, max_rss_bytes, written_bytes, degraded, event_seq,
  launcher_pid, launcher_start_ticks, launcher_boot_id, agent_pid, agent_start_ticks, agent_boot_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET state = excluded.state, tenant = excluded.tenant,
  profile = excluded.profile, agent = excluded.agent, parent = excluded.parent,
  policy_hash = excluded.policy_hash, created_us = excluded.created_us,
  started_us = excluded.started_us, ended_us = excluded.ended_us, cause = excluded.cause,
  exit_code = excluded.exit_code, cpu_us = excluded.cpu_us, wall_us = excluded.wall_us,
  max_rss_bytes = excluded.max_rss_bytes, written_bytes = excluded.written_bytes,
  degraded = excluded.degraded, event_seq = excluded.event_seq,
  launcher_pid = excluded.launcher_pid, launcher_start_ticks = excluded.launcher_start_ticks,
  launcher_boot_id = excluded.launcher_boot_id, agent_pid = excluded.agent_pid,
  agent_start_ticks = excluded.agent_start_ticks, agent_boot_id = excluded.agent_boot_id
)";
constexpr int launcher_parameter = 19;
constexpr int agent_parameter = 22;

}  // namespace

const char* const event_columns = "seq, at_us, kind, subject, tenant, body, hash, rows";
constexpr int rows_column = 7;
const char* const run_columns =
    "id, state, tenant, profile, agent, parent, policy_hash, created_us, started_us, ended_us, "
    "launcher_pid, launcher_start_ticks, launcher_boot_id, agent_pid, agent_start_ticks, "
    "agent_boot_id, cause, exit_code, cpu_us, wall_us, max_rss_bytes, written_bytes, degraded, "
    "event_seq";
const char* const agent_columns = "name, wanted, event_seq";
const char* const budget_columns =
    "agent, dimension, limit_value, granted_value, used_value, warned, breached, event_seq";
const char* const policy_columns = "hash, text, event_seq";
const char* const verdict_columns = "tenant, request_id, item, nonce, answer, event_seq";

StoredEvent event_in(SQLite::Statement& statement) {
  Columns columns(statement);
  StoredEvent stored;
  stored.seq = columns.count();
  stored.event.at = from_microseconds(columns.number());
  stored.event.kind = columns.text();
  stored.event.subject = columns.text();
  stored.event.tenant = columns.text();
  stored.event.body = columns.text();
  stored.hash = columns.text();
  return stored;
}

std::string encoded_rows_in(SQLite::Statement& statement) {
  return statement.getColumn(rows_column).getString();
}

RunRow run_in(SQLite::Statement& statement) {
  Columns columns(statement);
  RunRow row;
  for (std::string* text :
       {&row.id, &row.state, &row.tenant, &row.profile, &row.agent, &row.parent, &row.policy_hash})
    *text = columns.text();
  for (std::int64_t* number : {&row.created_us, &row.started_us, &row.ended_us})
    *number = columns.number();
  row.launcher = columns.mark();
  row.agent_process = columns.mark();
  row.cause = columns.text();
  row.exit_code = columns.number();
  for (std::uint64_t* count : {&row.cpu_us, &row.wall_us, &row.max_rss_bytes, &row.written_bytes})
    *count = columns.count();
  row.degraded = columns.text();
  return row;
}

AgentRow agent_in(SQLite::Statement& statement) {
  Columns columns(statement);
  AgentRow row;
  row.name = columns.text();
  row.wanted = columns.text();
  return row;
}

BudgetRow budget_in(SQLite::Statement& statement) {
  Columns columns(statement);
  BudgetRow row;
  row.agent = columns.text();
  row.dimension = columns.text();
  row.limit = columns.number();
  row.granted = columns.number();
  row.used = columns.number();
  row.warned = columns.flag();
  row.breached = columns.flag();
  return row;
}

PolicyRow policy_in(SQLite::Statement& statement) {
  Columns columns(statement);
  PolicyRow row;
  row.hash = columns.text();
  row.text = columns.text();
  return row;
}

VerdictRow verdict_in(SQLite::Statement& statement) {
  Columns columns(statement);
  VerdictRow row;
  for (std::string* text : {&row.tenant, &row.request_id, &row.item, &row.nonce, &row.answer})
    *text = columns.text();
  return row;
}

SQLite::Statement& Statements::operator[](const std::string& sql) {
  const auto found = prepared_.find(sql);
  if (found != prepared_.end()) return found->second;
  return prepared_.try_emplace(sql, database_, sql).first->second;
}

std::optional<CurrentRow> current_row(Statements& statements, RowKind kind,
                                      const std::string& key) {
  SQLite::Statement& statement = statements[std::string("SELECT ") + columns_of(kind) + " FROM " +
                                            table_of(kind) + key_condition(kind)];
  const ResetAtEnd reset(statement);
  if (!bind_key(statement, kind, key).executeStep()) return std::nullopt;
  return CurrentRow{.row = written_in(statement, kind), .event_seq = event_seq_in(statement)};
}

void put_event(Statements& statements, const StoredEvent& stored, const std::string& encoded_rows) {
  bound(statements["INSERT INTO events (seq, at_us, kind, subject, tenant, body, hash, rows) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"],
        stored.seq, to_microseconds(stored.event.at), stored.event.kind, stored.event.subject,
        stored.event.tenant, stored.event.body, stored.hash, encoded_rows)
      .exec();
}

void put_run(Statements& statements, const RunRow& row, std::uint64_t event_seq) {
  SQLite::Statement& statement = bound(
      statements[put_run_sql], row.id, row.state, row.tenant, row.profile, row.agent, row.parent,
      row.policy_hash, row.created_us, row.started_us, row.ended_us, row.cause, row.exit_code,
      row.cpu_us, row.wall_us, row.max_rss_bytes, row.written_bytes, row.degraded, event_seq);
  bind_mark(statement, launcher_parameter, row.launcher);
  bind_mark(statement, agent_parameter, row.agent_process);
  statement.exec();
}

void put_agent(Statements& statements, const AgentRow& row, std::uint64_t event_seq) {
  bound(statements["INSERT INTO agents (name, wanted, event_seq) VALUES (?, ?, ?) "
                   "ON CONFLICT (name) DO UPDATE SET wanted = excluded.wanted, "
                   "event_seq = excluded.event_seq"],
        row.name, row.wanted, event_seq)
      .exec();
}

void put_budget(Statements& statements, const BudgetRow& row, std::uint64_t event_seq) {
  bound(statements["INSERT INTO budgets (agent, dimension, limit_value, granted_value, "
                   "used_value, warned, breached, event_seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
                   "ON CONFLICT (agent, dimension) DO UPDATE SET "
                   "limit_value = excluded.limit_value, "
                   "granted_value = excluded.granted_value, used_value = excluded.used_value, "
                   "warned = excluded.warned, breached = excluded.breached, "
                   "event_seq = excluded.event_seq"],
        row.agent, row.dimension, row.limit, row.granted, row.used, row.warned, row.breached,
        event_seq)
      .exec();
}

void put_verdict(Statements& statements, const VerdictRow& row, std::uint64_t event_seq) {
  bound(statements["INSERT INTO verdicts (tenant, request_id, item, nonce, answer, event_seq) "
                   "VALUES (?, ?, ?, ?, ?, ?)"],
        row.tenant, row.request_id, row.item, row.nonce, row.answer, event_seq)
      .exec();
}

bool add_policy(Statements& statements, const PolicyRow& row, std::uint64_t event_seq) {
  return bound(statements["INSERT INTO policies (hash, text, event_seq) VALUES (?, ?, ?) "
                          "ON CONFLICT (hash) DO NOTHING"],
               row.hash, row.text, event_seq)
             .exec() == 1;
}

void set_event_seq(Statements& statements, RowKind kind, const std::string& key,
                   std::uint64_t event_seq) {
  SQLite::Statement& statement =
      statements["UPDATE " + table_of(kind) + " SET event_seq = ?3" + key_condition(kind)];
  bind_key(statement, kind, key);
  bind_value(statement, 3, event_seq);
  statement.exec();
}

void erase_row(Statements& statements, RowKind kind, const std::string& key) {
  bind_key(statements["DELETE FROM " + table_of(kind) + key_condition(kind)], kind, key).exec();
}

std::string table_of(RowKind kind) {
  switch (kind) {
    case RowKind::run:
      return "runs";
    case RowKind::policy:
      return "policies";
    case RowKind::agent:
      return "agents";
    case RowKind::budget:
      return "budgets";
    case RowKind::verdict:
      return "verdicts";
  }
  return "";
}

}  // namespace paddock::supervisor
