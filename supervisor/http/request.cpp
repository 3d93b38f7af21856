#include "supervisor/http/request.hpp"

#include <algorithm>

namespace paddock::supervisor {
namespace {

char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

bool equal_ignoring_case(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return to_lower(a) == to_lower(b); });
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const auto& [field_name, value] : fields)
    if (equal_ignoring_case(field_name, name)) return value;
  return std::nullopt;
}

std::size_t Headers::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(
      fields.begin(), fields.end(),
      [&](const HeaderField& field) { return equal_ignoring_case(field.first, name); }));
}

}  // namespace paddock::supervisor
