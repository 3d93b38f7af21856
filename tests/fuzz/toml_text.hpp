#pragma once
// Values as TOML, for the targets that print what they have read.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace paddock::fuzz {

inline std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

inline std::string quoted(const std::vector<std::string>& words) {
  std::string out = "[";
  for (const std::string& word : words) out += quoted(word) + ", ";
  return out + "]";
}

inline std::string quoted(const std::map<std::string, std::string>& entries) {
  std::string out = "{";
  for (const auto& [name, value] : entries)
    out += (out.size() > 1 ? ", " : "") + quoted(name) + " = " + quoted(value);
  return out + "}";
}

}  // namespace paddock::fuzz
