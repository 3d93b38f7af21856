#pragma once
// What an error is on the wire: RFC 0002's table.

#include "kernel/base/error.hpp"

namespace paddock::supervisor {

int http_status(kernel::ErrorCode code);

}  // namespace paddock::supervisor
