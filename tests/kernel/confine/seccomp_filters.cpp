#include "seccomp_filters.hpp"

#include <seccomp.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "kernel/confine/seccomp.hpp"
#include "kernel/confine/seccomp_rules.hpp"

namespace paddock::tests {
namespace {

using Names = std::array<std::optional<std::string>, kernel::newest_judged_number + 1>;

Names all_names() {
  Names names;
  for (std::size_t number = 0; number < names.size(); ++number) {
    char* name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, static_cast<int>(number));
    if (name != nullptr) names[number] = name;
    std::free(name);
  }
  for (const kernel::NewerCall& call : kernel::newer_calls())
    names.at(static_cast<std::size_t>(call.number)) = call.name;
  return names;
}

}  // namespace

std::vector<sock_filter> filter_of(kernel::SeccompUse use) {
  const std::string bytes = kernel::seccomp_filter(use).value();
  std::vector<sock_filter> program(bytes.size() / sizeof(sock_filter));
  if (!program.empty()) std::memcpy(program.data(), bytes.data(), bytes.size());
  return program;
}

std::optional<std::string> syscall_name(std::uint32_t number) {
  if (number > kernel::newest_judged_number) return std::nullopt;
  static const auto names = all_names();
  return names[number];
}

std::optional<std::uint32_t> syscall_number(std::string_view name) {
  for (std::uint32_t number = 0; number <= kernel::newest_judged_number; ++number)
    if (syscall_name(number) == name) return number;
  return std::nullopt;
}

}  // namespace paddock::tests
