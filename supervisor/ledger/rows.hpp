#pragma once
// Rows of the tables as values: one place that knows the columns. For .cpp files of the ledger;
// SQLite's exceptions pass through.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "supervisor/ledger/chain.hpp"
#include "supervisor/ledger/transition.hpp"

namespace paddock::supervisor {

// Columns in the order in which the functions below read them.
extern const char* const event_columns;    // seq ... hash, rows
extern const char* const run_columns;      // id ... degraded, event_seq
extern const char* const agent_columns;    // name, wanted, event_seq
extern const char* const budget_columns;   // agent ... breached, event_seq
extern const char* const policy_columns;   // hash, text, event_seq
extern const char* const verdict_columns;  // tenant ... answer, event_seq

StoredEvent event_in(SQLite::Statement& statement);
std::string encoded_rows_in(SQLite::Statement& statement);  // of the same row
RunRow run_in(SQLite::Statement& statement);
AgentRow agent_in(SQLite::Statement& statement);
BudgetRow budget_in(SQLite::Statement& statement);
PolicyRow policy_in(SQLite::Statement& statement);
VerdictRow verdict_in(SQLite::Statement& statement);

// Statements by their text, each prepared once.
class Statements {
 public:
  explicit Statements(SQLite::Database& database) : database_(database) {}
  SQLite::Statement& operator[](const std::string& sql);

 private:
  SQLite::Database& database_;
  std::map<std::string, SQLite::Statement> prepared_;
};

// A row as it stands now, as the event `event_seq` should have named it.
struct CurrentRow {
  WrittenRow row;
  std::uint64_t event_seq = 0;
};

std::optional<CurrentRow> current_row(Statements& statements, RowKind kind, const std::string& key);

void put_event(Statements& statements, const StoredEvent& event, const std::string& encoded_rows);
void put_run(Statements& statements, const RunRow& row, std::uint64_t event_seq);
void put_agent(Statements& statements, const AgentRow& row, std::uint64_t event_seq);
void put_budget(Statements& statements, const BudgetRow& row, std::uint64_t event_seq);
void put_verdict(Statements& statements, const VerdictRow& row, std::uint64_t event_seq);
// False, and nothing is written, if it is there already.
bool add_policy(Statements& statements, const PolicyRow& row, std::uint64_t event_seq);

// Says that the row, unchanged, is named by another event now.
void set_event_seq(Statements& statements, RowKind kind, const std::string& key,
                   std::uint64_t event_seq);
void erase_row(Statements& statements, RowKind kind, const std::string& key);

// "runs", for SQL.
std::string table_of(RowKind kind);

}  // namespace paddock::supervisor
