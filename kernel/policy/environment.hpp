#pragma once
// Which environment variables may enter a run. A loader-hijack variable lets whoever sets it run
// code inside a program that trusts its environment; such a name is refused when the policy is
// made, never filtered later in silence.

#include <string>
#include <string_view>

#include "kernel/base/error.hpp"

namespace paddock::kernel {

// LD_*, DYLD_*, PYTHONPATH, NODE_OPTIONS, BASH_ENV ... the whole list is in environment.cpp.
bool is_loader_hijack(std::string_view name);

// Fails with sandbox_policy_error if `name` is empty, holds '=' or NUL, or is a loader-hijack name.
// `where` begins the message: "request.environment".
Result<void> check_environment_name(std::string_view where, std::string_view name);

}  // namespace paddock::kernel
