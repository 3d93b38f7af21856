#pragma once
// A key whose value is one of a few words.

#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernel/policy/choices.hpp"
#include "kernel/policy/names.hpp"
#include "kernel/policy/toml_reader.hpp"

namespace paddock::kernel {

// "use is 'maybe'; known are 'never', 'if_delegated', 'required'"
template <class Choice, std::size_t size>
void read_choice(TomlReader& reader, std::string_view table, std::string_view key,
                 const std::array<Named<Choice>, size>& choices, Choice& field) {
  const auto written = reader.text(table, key);
  if (!written) return;
  if (const auto choice = choice_in(choices, *written)) {
    field = *choice;
    return;
  }
  std::vector<std::string> known;
  for (const Named<Choice>& named : choices) known.emplace_back(named.name);
  reader.report(reader.place(table, key),
                fmt::format("{} is '{}'; known are {}", key, *written, quoted_list(known)));
}

}  // namespace paddock::kernel
