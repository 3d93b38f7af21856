#pragma once
// The tables of a ledger file, and the way from an older version to this one.

#include <span>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "kernel/base/error.hpp"

namespace paddock::supervisor {

// Each brings the schema from the version of its place to the next. Only ever added to.
std::span<const char* const> schema_migrations();

// Fails with not_recorded if it is no ledger, is damaged or is newer than this program. Reads a few
// pages, whatever the size. Throws.
kernel::Result<void> check_is_ledger(SQLite::Database& database, const std::string& path);

// Applies what is missing, each migration in a transaction of its own, with its version. Throws.
void migrate(SQLite::Database& database, std::span<const char* const> migrations);

// What is not as migrate() has made it: "trigger x was added". Empty: nothing. Throws.
std::string schema_edit(SQLite::Database& database);

}  // namespace paddock::supervisor
