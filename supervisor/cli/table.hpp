#pragma once
// A table of text with aligned columns.

#include <string>
#include <vector>

namespace paddock::supervisor::cli {

// Two spaces between columns, none at a line's end. Every cell is made printable.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace paddock::supervisor::cli
