#pragma once
// Bytes in JSON: text where they are UTF-8, base64 where they are not, or where text would cost the
// daemon too much.

#include <string>
#include <string_view>

#include "kernel/base/error.hpp"

namespace paddock::supervisor {

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view bytes);

// True if `bytes` go into JSON as a string. Besides UTF-8 that takes control characters to be few:
// each is escaped with six ("\u0000"), and a flood of them would hold up the loop for a second.
// Up to 32 KiB any number is few.
bool goes_as_text(std::string_view bytes);

std::string to_base64(std::string_view bytes);

// Fails with invalid_request on anything but canonical base64 with padding.
kernel::Result<std::string> from_base64(std::string_view text);

}  // namespace paddock::supervisor
