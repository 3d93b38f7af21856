#pragma once
// What the seccomp filters allow and refuse, as plain data. seccomp_compile.cpp makes filters of
// it.
//
// A call is judged in this order; the first that matches decides.
//   1. foreign architecture, or x32 on x86-64: the process is killed
//   2. a number that nobody has judged yet, or that no call has: ENOSYS
//   3. `denied`
//   4. `bounded`: allowed with the listed arguments alone
//   5. `allowed`; where `rest_is_refused`, all others get EPERM

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/policy/profile.hpp"

namespace paddock::kernel {

enum class Architecture { x86_64, aarch64 };

enum class SeccompAction {
  allow,
  not_permitted,  // EPERM
  no_such_call,   // ENOSYS: what a program meets on an older kernel, and has a way around
  no_family,      // EAFNOSUPPORT: the same for socket families
  kill,           // SIGSYS to the whole process
};

// One condition on one argument of a call, all 64 bits of it as the kernel sees them.
struct ArgumentTest {
  enum class Kind { masked_equal, at_most };
  Kind kind;
  unsigned argument;    // 0..5
  std::uint64_t mask;   // of masked_equal
  std::uint64_t value;  // already masked
};
using ArgumentTests = std::vector<ArgumentTest>;  // all must hold; empty: any arguments

struct Denial {
  SeccompAction action;
  std::vector<std::string_view> names;
  ArgumentTests only_if = {};
};

struct Bound {
  std::vector<std::string_view> names;
  std::vector<ArgumentTests> alternatives;  // allowed if one of them holds
  SeccompAction otherwise = SeccompAction::not_permitted;
};

struct SeccompRules {
  std::vector<Denial> denied;
  std::vector<Bound> bounded;  // `otherwise` is not_permitted or no_family
  std::vector<std::string_view> allowed;
  bool rest_is_refused = false;
};

// Not for `off`, which has no filter.
const SeccompRules& rules_of(SeccompUse use);

// The newest number that these rules have an opinion on: file_setattr, Linux 6.17. Whoever raises
// it judges every call up to the new one.
constexpr std::uint32_t newest_judged_number = 469;

// Numbers inside the table that no call has, or none that a 64-bit program needs: both ends count.
const std::vector<std::pair<std::uint32_t, std::uint32_t>>& unused_numbers(
    Architecture architecture);

// Calls newer than some libseccomp that Paddock is built with, so their numbers are ours to know.
// From 424 on a number means the same on every architecture.
struct NewerCall {
  std::string_view name;
  int number;
};
const std::vector<NewerCall>& newer_calls();

}  // namespace paddock::kernel
