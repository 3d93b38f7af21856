#pragma once
// JSON texts, for files that have no other business with JSON.

#include <initializer_list>
#include <string>
#include <string_view>

#include "kernel/base/error.hpp"

namespace paddock::supervisor::cli {

// The text or flag at a path of keys. Fails with internal if it is not there.
kernel::Result<std::string> text_at(std::string_view json, std::initializer_list<const char*> keys);
kernel::Result<bool> flag_at(std::string_view json, std::initializer_list<const char*> keys);

// Indented, for people; unchanged if it is not JSON.
std::string indented(std::string_view text);

}  // namespace paddock::supervisor::cli
