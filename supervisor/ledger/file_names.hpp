#pragma once
// The files of a ledger: ledger.db, and ledger.lock and ledger.reserve beside it.

#include <string>

namespace paddock::supervisor {

std::string ledger_path(const std::string& state_directory);

// `path` with another ending in place of ".db", if it has that.
std::string lock_path(const std::string& path);
std::string reserve_path(const std::string& path);

}  // namespace paddock::supervisor
