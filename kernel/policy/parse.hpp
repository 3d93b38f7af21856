#pragma once
// One file's text to a profile or an agent template, with the places that the loader needs to
// compare files with each other.

#include <string>
#include <string_view>
#include <vector>

#include "kernel/policy/load.hpp"
#include "kernel/policy/toml_reader.hpp"

namespace paddock::kernel {

struct ParsedProfile {
  Profile profile;  // to be used only if `valid`; its name may be known even if it is not
  Place name_place;
  bool valid = false;
};

struct ParsedAgent {
  AgentTemplate agent;  // the same
  Place name_place;
  Place profile_place;
  bool valid = false;
};

// Mistakes are appended to `diagnostics`, ordered by line.
ParsedProfile read_profile(std::string_view text, const std::string& file,
                           std::vector<Diagnostic>& diagnostics);
ParsedAgent read_agent(std::string_view text, const std::string& file,
                       std::vector<Diagnostic>& diagnostics);

// What both kinds of file begin with.
std::string read_name(TomlReader& reader);
std::string read_description(TomlReader& reader);

// Orders what one file added to `diagnostics` from `begin` on.
void sort_by_place(std::vector<Diagnostic>& diagnostics, std::size_t begin);

}  // namespace paddock::kernel
