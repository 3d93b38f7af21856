#include "seccomp_evaluator.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace paddock::tests {
namespace {

std::uint32_t load(const seccomp_data& data, std::uint32_t offset) {
  if (offset % 4 != 0 || offset + 4 > sizeof data)
    throw std::runtime_error("load outside the data");
  std::uint32_t word = 0;
  std::memcpy(&word, reinterpret_cast<const char*>(&data) + offset, sizeof word);
  return word;
}

bool holds(unsigned operation, std::uint32_t left, std::uint32_t right) {
  switch (operation) {
    case BPF_JEQ:
      return left == right;
    case BPF_JGT:
      return left > right;
    case BPF_JGE:
      return left >= right;
    case BPF_JSET:
      return (left & right) != 0;
    default:
      throw std::runtime_error("unknown comparison");
  }
}

std::uint32_t run(const std::vector<sock_filter>& program, const seccomp_data& data) {
  std::uint32_t accumulator = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& step = program[at];
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        accumulator = load(data, step.k);
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        accumulator &= step.k;
        break;
      case BPF_JMP | BPF_JA:
        at += step.k;
        break;
      case BPF_RET | BPF_K:
        return step.k;
      default:
        if (BPF_CLASS(step.code) != BPF_JMP || BPF_SRC(step.code) != BPF_K)
          throw std::runtime_error("unknown instruction");
        at += holds(BPF_OP(step.code), accumulator, step.k) ? step.jt : step.jf;
    }
  }
  throw std::runtime_error("the program ends without a return");
}

std::string word_of(std::uint32_t action) {
  switch (action) {
    case SECCOMP_RET_ALLOW:
      return "allow";
    case SECCOMP_RET_KILL_PROCESS:
      return "kill";
    case SECCOMP_RET_ERRNO | EPERM:
      return "EPERM";
    case SECCOMP_RET_ERRNO | ENOSYS:
      return "ENOSYS";
    case SECCOMP_RET_ERRNO | EAFNOSUPPORT:
      return "EAFNOSUPPORT";
    default:
      return "action " + std::to_string(action);
  }
}

}  // namespace

std::string verdict_of(const std::vector<sock_filter>& program, const Call& call) {
  seccomp_data data{};
  data.nr = static_cast<int>(call.number);
  data.arch = call.architecture;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) data.args[i] = call.arguments[i];
  return word_of(run(program, data));
}

}  // namespace paddock::tests
