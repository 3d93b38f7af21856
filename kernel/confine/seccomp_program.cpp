#include "kernel/confine/seccomp_program.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>

#include <cerrno>
#include <cstddef>

namespace paddock::kernel {
namespace {

constexpr std::uint32_t x32_bit = 0x40000000;
constexpr std::uint32_t skipped_by_tracer = 0xffffffff;  // -1: the tracer has answered the call

constexpr sock_filter statement(unsigned code, std::uint32_t k) {
  return {.code = static_cast<std::uint16_t>(code), .jt = 0, .jf = 0, .k = k};
}

// Skips `if_true` or `if_false` of the instructions that follow.
constexpr sock_filter compare(unsigned operation, std::uint32_t k, std::size_t if_true,
                              std::size_t if_false) {
  return {.code = static_cast<std::uint16_t>(BPF_JMP | operation | BPF_K),
          .jt = static_cast<std::uint8_t>(if_true),
          .jf = static_cast<std::uint8_t>(if_false),
          .k = k};
}

sock_filter load(std::size_t offset) {
  return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

sock_filter skip(std::size_t count) {
  return statement(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(count));
}

sock_filter give(std::uint32_t action) {
  return statement(BPF_RET | BPF_K, action);
}

void append(BpfProgram& to, const BpfProgram& more) {
  to.insert(to.end(), more.begin(), more.end());
}

bool is_return_allow(const sock_filter& instruction) {
  return instruction.code == (BPF_RET | BPF_K) && instruction.k == SECCOMP_RET_ALLOW;
}

}  // namespace

BpfProgram refuse_unjudged_numbers(Architecture architecture) {
  const bool x86 = architecture == Architecture::x86_64;
  const sock_filter no_such_call = give(SECCOMP_RET_ERRNO | ENOSYS);

  BpfProgram judge = {compare(BPF_JGT, newest_judged_number, 0, 1), no_such_call};
  for (const auto& [first, last] : unused_numbers(architecture))
    append(judge, {compare(BPF_JGE, first, 0, 2), compare(BPF_JGT, last, 1, 0), no_such_call});

  // x32 numbers have that bit, and so has -1.
  const sock_filter not_ours =
      x86 ? compare(BPF_JGE, x32_bit, 0, 1) : compare(BPF_JEQ, skipped_by_tracer, 0, 1);
  BpfProgram program = {load(offsetof(seccomp_data, arch)),
                        compare(BPF_JEQ, x86 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64, 1, 0),
                        skip(judge.size() + 3),
                        load(offsetof(seccomp_data, nr)),
                        not_ours,
                        skip(judge.size())};
  append(program, judge);
  return program;
}

BpfProgram only_for(const std::vector<std::uint32_t>& numbers, const BpfProgram& program) {
  BpfProgram guarded = {load(offsetof(seccomp_data, nr))};
  // From a match over the remaining comparisons and the skip.
  for (std::size_t i = 0; i < numbers.size(); ++i)
    guarded.push_back(compare(BPF_JEQ, numbers[i], numbers.size() - i, 0));
  guarded.push_back(skip(program.size()));
  append(guarded, program);
  return guarded;
}

BpfProgram allowed_goes_on(BpfProgram program) {
  for (std::size_t i = 0; i < program.size(); ++i)
    if (is_return_allow(program[i])) program[i] = skip(program.size() - i - 1);
  return program;
}

BpfProgram allow_everything() {
  return {give(SECCOMP_RET_ALLOW)};
}

std::string as_bytes(const BpfProgram& program) {
  return std::string(reinterpret_cast<const char*>(program.data()),
                     program.size() * sizeof(sock_filter));
}

}  // namespace paddock::kernel
