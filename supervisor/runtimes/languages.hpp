#pragma once
// Languages: which runtimes this host has, for people: with their versions, and with what to
// install where there is none.

#include <functional>
#include <string>
#include <vector>

#include "supervisor/runtimes/versions.hpp"

namespace paddock::supervisor {

struct Language {
  std::string name;
  RuntimeVersion version;
  std::string fix{};  // of one that is not there

  bool operator==(const Language&) const = default;
};

Language language_of(const Runtime& runtime, RuntimeVersion version);

// Asks all of them at once. `on_found` is called once, in the order of their names; at once if all
// are known.
void find_languages(RuntimeVersions& versions, const Runtimes& runtimes,
                    std::function<void(std::vector<Language>)> on_found);

}  // namespace paddock::supervisor
