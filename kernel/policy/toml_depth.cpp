#include "kernel/policy/toml_depth.hpp"

namespace paddock::kernel {
namespace {

// Moves `at` behind the string that begins there. A single-line string ends at the end of its line
// at the latest: there the parser will refuse it.
void skip_string(std::string_view text, std::size_t& at, std::size_t& line) {
  const char quote = text[at];
  const bool escapes = quote == '"';
  const std::string_view triple = escapes ? "\"\"\"" : "'''";
  const bool multi_line = text.substr(at).starts_with(triple);
  at += multi_line ? 3 : 1;
  while (at < text.size()) {
    if (escapes && text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n') {
      at += 2;
    } else if (multi_line && text.substr(at).starts_with(triple)) {
      at += 3;
      return;
    } else if (!multi_line && text[at] == quote) {
      ++at;
      return;
    } else if (!multi_line && text[at] == '\n') {
      return;
    } else {
      if (text[at] == '\n') ++line;
      ++at;
    }
  }
}

}  // namespace

std::optional<std::size_t> line_with_too_many_dots(std::string_view text) {
  std::size_t dots = 0;
  std::size_t line = 1;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      skip_string(text, at, line);
    } else if (c == '#') {
      at = text.find('\n', at);
      if (at == std::string_view::npos) return std::nullopt;
    } else {
      if (c == '\n') ++line;
      if (c == '.' && ++dots > dots_max) return line;
      ++at;
    }
  }
  return std::nullopt;
}

}  // namespace paddock::kernel
