#pragma once
// Hashes, as text.

#include <string>
#include <string_view>

namespace paddock::kernel {

std::string sha256_hex(std::string_view bytes);  // 64 characters

}  // namespace paddock::kernel
