#include "kernel/base/random.hpp"

#include <sys/random.h>

namespace paddock::kernel {

std::uint64_t random_bits() {
  std::uint64_t bits = 0;
  while (::getrandom(&bits, sizeof bits, 0) != sizeof bits) {
  }
  return bits;
}

}  // namespace paddock::kernel
