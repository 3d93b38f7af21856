#pragma once
// What paddock and paddockd ask of a word on their command lines. For .cpp files that use CLI11.

#include <string>

#include <CLI/CLI.hpp>

namespace paddock::supervisor {

// An empty word is mostly a variable that is not set, and not an option that was left out.
inline CLI::Validator not_empty() {
  return {[](const std::string& word) {
            return word.empty() ? std::string("is empty") : std::string();
          },
          ""};
}

}  // namespace paddock::supervisor
