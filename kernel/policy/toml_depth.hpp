#pragma once
// A guard in front of the TOML parser. toml++ 3.3 limits how deep values nest but not how many
// tables a dotted key opens (a.a.a ... = 1), and a tree of a hundred thousand levels overflows the
// stack when it is destroyed.

#include <cstddef>
#include <optional>
#include <string_view>

namespace paddock::kernel {

constexpr std::size_t dots_max = 1000;

// The 1-based line on which the text has had more than dots_max dots outside strings and comments;
// nothing for a text with fewer. No file that anybody writes by hand has more.
std::optional<std::size_t> line_with_too_many_dots(std::string_view text);

}  // namespace paddock::kernel
