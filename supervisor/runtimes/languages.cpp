#include "supervisor/runtimes/languages.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace paddock::supervisor {

Language language_of(const Runtime& runtime, RuntimeVersion version) {
  Language language{.name = runtime.name, .version = std::move(version), .fix = {}};
  if (language.version.is_there) return language;
  language.fix = runtime.install;
  if (language.fix.empty())
    language.fix =
        fmt::format("install '{}' where a run finds it in its PATH", runtime.version.front());
  return language;
}

void find_languages(RuntimeVersions& versions, const Runtimes& runtimes,
                    std::function<void(std::vector<Language>)> on_found) {
  struct Found {
    std::vector<Language> languages;
    std::size_t missing = 0;
  };
  if (runtimes.empty()) return on_found({});
  const auto found = std::make_shared<Found>();
  found->languages.resize(runtimes.size());
  found->missing = runtimes.size();
  std::size_t index = 0;
  for (const auto& [name, runtime] : runtimes) {
    versions.find(runtime, [found, on_found, runtime = runtime,
                            index = index++](const RuntimeVersion& version) {
      found->languages[index] = language_of(runtime, version);
      if (--found->missing == 0) on_found(std::move(found->languages));
    });
  }
}

}  // namespace paddock::supervisor
