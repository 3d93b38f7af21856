#pragma once
// Runs a seccomp filter without a kernel: what would it say to this call?

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace paddock::tests {

using Arguments = std::array<std::uint64_t, 6>;

struct Call {
  std::uint32_t number = 0;
  Arguments arguments = {};
  std::uint32_t architecture = AUDIT_ARCH_X86_64;
};

// The action as a word: "allow", "kill", "EPERM", "ENOSYS", "EAFNOSUPPORT". Throws on a program
// that the kernel would not take: an unknown instruction, a jump past the end, no return.
std::string verdict_of(const std::vector<sock_filter>& program, const Call& call);

}  // namespace paddock::tests
