#pragma once
// A plan, from the API's JSON to what people read. Pure.

#include <string>
#include <string_view>

#include "kernel/base/error.hpp"

namespace paddock::supervisor::cli {

// The policy that the hash covers, then what it becomes on this host: limits, namespaces,
// environment, and every argument of bubblewrap.
kernel::Result<std::string> policy_text(std::string_view plan_json);

}  // namespace paddock::supervisor::cli
