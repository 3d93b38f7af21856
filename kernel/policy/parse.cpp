#include "kernel/policy/parse.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "kernel/policy/names.hpp"

namespace paddock::kernel {

std::string read_name(TomlReader& reader) {
  const bool present = reader.has("", "name");
  const auto name = reader.text("", "name");
  if (!present) reader.report({1, 1}, "name is missing");
  if (name && !is_name(*name)) {
    reader.report(reader.place("", "name"),
                  fmt::format("name '{}' is not of the form [A-Za-z0-9_-]{{1,64}}", *name));
  }
  return name.value_or("");
}

std::string read_description(TomlReader& reader) {
  std::string description = reader.text("", "description").value_or("");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(description.begin(), description.end(), is_control)) {
    reader.report(reader.place("", "description"), "description must be a single line of text");
  }
  return description;
}

void sort_by_place(std::vector<Diagnostic>& diagnostics, std::size_t begin) {
  std::stable_sort(diagnostics.begin() + static_cast<std::ptrdiff_t>(begin), diagnostics.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return std::tie(a.line, a.column) < std::tie(b.line, b.column);
                   });
}

std::optional<Profile> parse_profile(std::string_view text, const std::string& file,
                                     std::vector<Diagnostic>& diagnostics) {
  ParsedProfile parsed = read_profile(text, file, diagnostics);
  if (!parsed.valid) return std::nullopt;
  return std::move(parsed.profile);
}

std::optional<AgentTemplate> parse_agent(std::string_view text, const std::string& file,
                                         std::vector<Diagnostic>& diagnostics) {
  ParsedAgent parsed = read_agent(text, file, diagnostics);
  if (!parsed.valid) return std::nullopt;
  return std::move(parsed.agent);
}

}  // namespace paddock::kernel
