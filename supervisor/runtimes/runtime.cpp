#include "supervisor/runtimes/runtime.hpp"

#include <algorithm>
#include <tuple>

namespace paddock::supervisor {

bool Runtime::operator==(const Runtime& other) const {
  const bool is_warm_so = warm == other.warm || (warm && other.warm && *warm == *other.warm);
  const auto rest = [](const Runtime& runtime) {
    return std::tie(runtime.name, runtime.aliases, runtime.source, runtime.compile, runtime.run,
                    runtime.version, runtime.profile, runtime.file, runtime.install);
  };
  return is_warm_so && rest(*this) == rest(other);
}

const Runtime* find_runtime(const Runtimes& runtimes, const std::string& name_or_alias) {
  if (const auto at = runtimes.find(name_or_alias); at != runtimes.end()) return &at->second;
  for (const auto& [name, runtime] : runtimes) {
    const auto& aliases = runtime.aliases;
    if (std::find(aliases.begin(), aliases.end(), name_or_alias) != aliases.end()) return &runtime;
  }
  return nullptr;
}

}  // namespace paddock::supervisor
