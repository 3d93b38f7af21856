#include "supervisor/ledger/schema.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

constexpr std::int64_t application_id = 0x5061646c;  // "Padl", where file(1) looks for it

// Order is by seq and by number alone, never by a clock, which may jump. `event_seq` is the event
// that wrote the row last. Indexes end with the number or seq by themselves.
constexpr const char* version_1 = R"(
CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  at_us INTEGER NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  tenant TEXT NOT NULL,
  body TEXT NOT NULL,
  rows TEXT NOT NULL,
  hash TEXT NOT NULL
);
CREATE INDEX events_by_subject ON events (subject);
CREATE INDEX events_by_tenant ON events (tenant);

CREATE TABLE anchor (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL
);

CREATE TABLE runs (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  tenant TEXT NOT NULL,
  profile TEXT NOT NULL,
  agent TEXT NOT NULL,
  parent TEXT NOT NULL,
  policy_hash TEXT NOT NULL,
  created_us INTEGER NOT NULL,
  started_us INTEGER NOT NULL,
  ended_us INTEGER NOT NULL,
  launcher_pid INTEGER,
  launcher_start_ticks INTEGER,
  launcher_boot_id TEXT,
  agent_pid INTEGER,
  agent_start_ticks INTEGER,
  agent_boot_id TEXT,
  cause TEXT NOT NULL,
  exit_code INTEGER NOT NULL,
  cpu_us INTEGER NOT NULL,
  wall_us INTEGER NOT NULL,
  max_rss_bytes INTEGER NOT NULL,
  written_bytes INTEGER NOT NULL,
  degraded TEXT NOT NULL,
  event_seq INTEGER NOT NULL
);
CREATE INDEX runs_unfinished ON runs (state) WHERE state <> 'finished';
CREATE INDEX runs_by_tenant ON runs (tenant);
CREATE INDEX runs_by_agent ON runs (agent) WHERE agent <> '';
CREATE INDEX runs_by_policy ON runs (policy_hash);

CREATE TABLE policies (
  hash TEXT PRIMARY KEY NOT NULL,
  text TEXT NOT NULL,
  event_seq INTEGER NOT NULL
);

CREATE TABLE agents (
  name TEXT PRIMARY KEY NOT NULL,
  wanted TEXT NOT NULL,
  event_seq INTEGER NOT NULL
);

CREATE TABLE budgets (
  agent TEXT NOT NULL,
  dimension TEXT NOT NULL,
  limit_value INTEGER NOT NULL,
  granted_value INTEGER NOT NULL,
  used_value INTEGER NOT NULL,
  warned INTEGER NOT NULL,
  breached INTEGER NOT NULL,
  event_seq INTEGER NOT NULL,
  PRIMARY KEY (agent, dimension)
);
)";

// A verdict is written once, with an event of its own.
constexpr const char* version_2 = R"(
CREATE TABLE verdicts (
  event_seq INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  request_id TEXT NOT NULL,
  item TEXT NOT NULL,
  nonce TEXT NOT NULL,
  answer TEXT NOT NULL
);
CREATE INDEX verdicts_by_request ON verdicts (tenant, request_id) WHERE request_id <> '';
CREATE INDEX verdicts_by_nonce ON verdicts (tenant, nonce) WHERE nonce <> '';
)";

constexpr std::array migrations = {version_1, version_2};

// "table runs" -> its SQL.
using Schema = std::map<std::string, std::string>;

Schema schema_of(SQLite::Database& database) {
  Schema schema;
  SQLite::Statement entries(database, "SELECT type, name, tbl_name, sql FROM sqlite_schema");
  while (entries.executeStep())
    schema[entries.getColumn(0).getString() + " " + entries.getColumn(1).getString()] =
        entries.getColumn(2).getString() + ": " + entries.getColumn(3).getString();
  return schema;
}

std::int64_t pragma(SQLite::Database& database, const std::string& name) {
  return database.execAndGet("PRAGMA " + name).getInt64();
}

}  // namespace

std::span<const char* const> schema_migrations() {
  return migrations;
}

Result<void> check_is_ledger(SQLite::Database& database, const std::string& path) {
  const std::int64_t version = pragma(database, "user_version");
  const bool is_empty = database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
  if (version == 0 && is_empty) return {};  // made, and not filled any more
  if (pragma(database, "application_id") != application_id)
    return fail(ErrorCode::not_recorded,
                "ledger '" + path + "': it is a database of another program, not a ledger");
  if (version < 1)
    return fail(ErrorCode::not_recorded, "ledger '" + path + "': it is damaged: no version");
  if (version > static_cast<std::int64_t>(migrations.size()))
    return fail(ErrorCode::not_recorded,
                "ledger '" + path + "': its version is " + std::to_string(version) +
                    ", and this program knows versions up to " + std::to_string(migrations.size()) +
                    "; use the newer program");
  return {};
}

void migrate(SQLite::Database& database, std::span<const char* const> wanted) {
  for (auto version = static_cast<std::size_t>(pragma(database, "user_version"));
       version < wanted.size(); ++version) {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    database.exec(wanted[version]);
    database.exec("PRAGMA application_id = " + std::to_string(application_id));
    database.exec("PRAGMA user_version = " + std::to_string(version + 1));
    transaction.commit();
  }
}

std::string schema_edit(SQLite::Database& database) {
  SQLite::Database model(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  const auto version = static_cast<std::size_t>(pragma(database, "user_version"));
  migrate(model, std::span(migrations).first(std::min(version, migrations.size())));
  const Schema wanted = schema_of(model);
  const Schema found = schema_of(database);
  for (const auto& [name, sql] : found) {
    const auto same = wanted.find(name);
    if (same == wanted.end()) return name + " was added";
    if (same->second != sql) return name + " is not as it was made";
  }
  for (const auto& [name, sql] : wanted)
    if (!found.contains(name)) return name + " is missing";
  return {};
}

}  // namespace paddock::supervisor
