#pragma once
// The names that clients give: of items, groups, nonces, functions.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kernel/base/error.hpp"

namespace paddock::supervisor {

// Text that is not empty, has at most `id_bytes_max` bytes and no control characters. Fails with
// invalid_request.
kernel::Result<std::string> json_label(const std::string& place, const nlohmann::json& value);

}  // namespace paddock::supervisor
