#pragma once
// Bytes in JSON: text where they are UTF-8, base64 where they are not.

#include <string>
#include <string_view>

#include "kernel/base/error.hpp"

namespace paddock::supervisor {

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view bytes);

std::string to_base64(std::string_view bytes);

// Fails with invalid_request on anything but canonical base64 with padding.
kernel::Result<std::string> from_base64(std::string_view text);

}  // namespace paddock::supervisor
