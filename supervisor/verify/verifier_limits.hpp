#pragma once
// How much is judged at a time, and how much may wait for it.

#include <chrono>
#include <cstddef>

#include "supervisor/verify/item.hpp"
#include "supervisor/verify/result_cache.hpp"

namespace paddock::supervisor {

struct VerifierLimits {
  std::size_t items_alive = 4;
  std::size_t queued_max = items_max;         // items that wait, of all tenants
  std::size_t queued_bytes_max = 256u << 20;  // of their code and tests
  std::chrono::milliseconds item_wall_clock = item_wall_clock_default;  // of items without one
  CacheLimits cache{};
  bool known_answers = true;  // is used where tests have them
};

}  // namespace paddock::supervisor
