#include "supervisor/runtimes/runtime.hpp"

#include <algorithm>

namespace paddock::supervisor {

const Runtime* find_runtime(const Runtimes& runtimes, const std::string& name_or_alias) {
  if (const auto at = runtimes.find(name_or_alias); at != runtimes.end()) return &at->second;
  for (const auto& [name, runtime] : runtimes) {
    const auto& aliases = runtime.aliases;
    if (std::find(aliases.begin(), aliases.end(), name_or_alias) != aliases.end()) return &runtime;
  }
  return nullptr;
}

}  // namespace paddock::supervisor
