#pragma once
// The rules of a valid policy, all of them, each mistake with the field that it is about. The
// loader turns the field into a line of the profile; check_policy reports the first.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/policy/policy.hpp"

namespace paddock::kernel {

struct PolicyMistake {
  std::string_view table;            // the TOML table that holds the field: "limits"
  std::string key;                   // the field: "memory_bytes"
  std::optional<std::size_t> index;  // which entry, where the field is a list
  std::string message;               // begins with the field: "memory_bytes is 0, at least 1"
};

// Looks at the file system for binds and workdir; everything else is pure.
std::vector<PolicyMistake> mistakes_in(const SandboxPolicy& policy);

}  // namespace paddock::kernel
