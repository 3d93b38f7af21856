#include "kernel/base/signal_name.hpp"

#include <fmt/format.h>

#include <cstring>

namespace paddock::kernel {

std::string signal_name(int number) {
  const char* const name = ::sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

}  // namespace paddock::kernel
