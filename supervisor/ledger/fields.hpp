#pragma once
// Fields: several texts as one, each with its length in front, so that no two lists of fields give
// the same bytes whatever is in them.

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::supervisor {

// Appends "3:abc,".
void append_field(std::string& bytes, std::string_view field);

template <std::integral Number>
void append_field(std::string& bytes, Number number) {
  append_field(bytes, std::string_view(std::to_string(number)));
}

// Takes the first field off `bytes`; nothing, and `bytes` unchanged, if there is no whole one.
std::optional<std::string> take_field(std::string_view& bytes);

}  // namespace paddock::supervisor
