#pragma once
// Profiles, from the API's JSON to what people read. Pure.

#include <string>
#include <string_view>

#include "kernel/base/error.hpp"

namespace paddock::supervisor::cli {

// A table: name, what isolates, the wall clock, what it is for.
kernel::Result<std::string> profile_list_text(std::string_view profiles_json);

// As its TOML file could be written, its source in a comment.
kernel::Result<std::string> profile_show_text(std::string_view profile_json);

}  // namespace paddock::supervisor::cli
