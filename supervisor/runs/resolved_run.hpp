#pragma once
// ResolvedRun: a request that was checked and resolved. It only has to be started.

#include <string>
#include <string_view>
#include <vector>

#include "kernel/policy/policy.hpp"

namespace paddock::supervisor {

// Stands in the ledger as the parent of a canary, which no run has asked for.
inline constexpr std::string_view canary_parent = "canary";

struct ResolvedRun {
  kernel::SandboxPolicy policy;
  std::vector<std::string> argv;
  std::string cwd;
  std::string agent;
  std::string tenant;
  std::string parent{};  // the run that asks for this one; empty: none
  std::string stdin_bytes;
  bool stdin_open = false;
  bool is_canary = false;  // in no list, and forgotten at its end
};

}  // namespace paddock::supervisor
