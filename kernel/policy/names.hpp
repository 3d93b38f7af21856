#pragma once
// Names of profiles, agents and tenants, and the guess at what a mistyped one was meant to be.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::kernel {

constexpr std::size_t name_bytes_max = 64;

// The profile of a request that names none, itself or by its agent.
constexpr const char* default_profile_name = "DEFAULT";
// That of what nobody has read, where nothing names another: candidates, the daemon's own runs,
// what comes over TCP.
constexpr const char* unread_code_profile_name = "STRICT";

// [A-Za-z0-9_-]{1,64}: safe in a path, a URL, a log line and a shell.
bool is_name(std::string_view text);

// The one of `known` with the fewest typing errors between it and `name`; empty if none is near
// enough to be a likely slip.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

// "'a', 'b', 'c'", for messages.
std::string quoted_list(const std::vector<std::string>& words);

}  // namespace paddock::kernel
