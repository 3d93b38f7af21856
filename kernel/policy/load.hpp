#pragma once
// Reads profiles and agent templates from TOML (through toml_reader.hpp, which hides toml++).
//
// A directory is read whole: all mistakes of all files come back at once, each with its place, and
// nothing is loaded if there is one. An unknown key is a mistake and names the nearest known one.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/policy/agent_template.hpp"
#include "kernel/policy/profile.hpp"

namespace paddock::kernel {

struct Diagnostic {
  std::string file;
  std::uint32_t line = 0;  // 1-based; 0: the file or directory as a whole
  std::uint32_t column = 0;
  std::string message;

  bool operator==(const Diagnostic&) const = default;
};

std::string to_string(const Diagnostic& diagnostic);  // "file:line:column: message"

// What an operator configured: what the daemon serves, swapped as one value on reload.
struct Catalog {
  std::map<std::string, Profile> profiles;
  std::map<std::string, AgentTemplate> agents;

  bool operator==(const Catalog&) const = default;
};

struct LoadResult {
  Catalog catalog;  // complete only if `diagnostics` is empty
  std::vector<Diagnostic> diagnostics;

  bool ok() const { return diagnostics.empty(); }
};

// One file's text. `file` is used in diagnostics only. Mistakes are appended to `diagnostics`.
std::optional<Profile> parse_profile(std::string_view text, const std::string& file,
                                     std::vector<Diagnostic>& diagnostics);
std::optional<AgentTemplate> parse_agent(std::string_view text, const std::string& file,
                                         std::vector<Diagnostic>& diagnostics);

// Reads *.toml of each directory in order, files sorted by name; later directories override
// earlier ones by profile or agent name, but the same name twice within one directory is a mistake.
// A directory or file that others than its owner may write, or that belongs to neither root nor
// this process's user, is a mistake. A missing directory is a mistake. An agent that names an
// unknown profile is a mistake.
LoadResult load_catalog(const std::vector<std::string>& profile_directories,
                        const std::vector<std::string>& agent_directories);

}  // namespace paddock::kernel
