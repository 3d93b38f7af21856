#include "supervisor/ledger/file_names.hpp"

namespace paddock::supervisor {
namespace {

std::string with_ending(const std::string& path, const std::string& ending) {
  constexpr std::string_view database = ".db";
  const bool has_own = path.ends_with(database);
  return (has_own ? path.substr(0, path.size() - database.size()) : path) + ending;
}

}  // namespace

std::string ledger_path(const std::string& state_directory) {
  return state_directory + "/ledger.db";
}

std::string lock_path(const std::string& path) {
  return with_ending(path, ".lock");
}

std::string reserve_path(const std::string& path) {
  return with_ending(path, ".reserve");
}

}  // namespace paddock::supervisor
