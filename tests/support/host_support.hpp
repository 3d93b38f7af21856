#pragma once
// Prerequisites of a test that only the host can give. A test that lacks one says UNSUPPORTED and
// why, and counts as skipped. Where SANDBOX_MUST_WORK=1, as in CI, that is a failure, but for a few
// reasons that no test host can help.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "support/catch.hpp"

namespace paddock::tests {

constexpr std::string_view needs_root = "this needs root";
constexpr std::string_view needs_user = "this needs an ordinary user";
constexpr std::string_view needs_x86_64 = "this needs an x86-64 processor";
constexpr std::string_view no_cgroup2 = "no cgroup v2 hierarchy that this process may write to";
constexpr std::string_view no_controllers =
    "cgroup v2 has no memory, pids and cpu controllers here";
constexpr std::string_view no_swap = "the host has no swap";
constexpr std::string_view no_landlock = "the kernel has no Landlock of ABI 2";
constexpr std::string_view no_signal_scope = "the kernel's Landlock is older than ABI 6";
constexpr std::string_view host_is_busy = "no CPU of the host is free for the test";
constexpr std::string_view no_route = "the host has no IPv4 route to the world";

constexpr std::array reasons_always_allowed = {needs_root,      needs_user, needs_x86_64,
                                               no_cgroup2,      no_swap,    no_controllers,
                                               no_signal_scope, no_route,   host_is_busy};

inline bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::string_view(value) == "1";
}

// CGROUP_MUST_WORK=1 is for a host that has what the cgroup tests need, as tests/vm has.
inline bool may_be_missing(std::string_view reason) {
  if (is_set("CGROUP_MUST_WORK") && (reason == no_cgroup2 || reason == no_controllers))
    return false;
  return !is_set("SANDBOX_MUST_WORK") ||
         std::find(reasons_always_allowed.begin(), reasons_always_allowed.end(), reason) !=
             reasons_always_allowed.end();
}

inline void unsupported(std::string_view reason) {
  static struct Count {
    int tests = 0;
    ~Count() { std::printf("%d UNSUPPORTED\n", tests); }
  } count;
  if (!may_be_missing(reason)) FAIL("MISSING: " << reason);
  ++count.tests;
  std::printf("UNSUPPORTED: %.*s\n", static_cast<int>(reason.size()), reason.data());
  std::fflush(stdout);
}

}  // namespace paddock::tests

// Leaves the test case unless `condition` holds.
#define NEEDS(condition, reason)             \
  do {                                       \
    if (!(condition)) {                      \
      ::paddock::tests::unsupported(reason); \
      return;                                \
    }                                        \
  } while (false)
