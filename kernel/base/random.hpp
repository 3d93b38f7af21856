#pragma once

#include <cstdint>

namespace paddock::kernel {

// 64 bits of the kernel's that nobody can guess.
std::uint64_t random_bits();

}  // namespace paddock::kernel
