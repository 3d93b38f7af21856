#pragma once
// What verify_bench measures besides the contenders. Each part starts a daemon of its own.

#include <optional>
#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "bench/verify/workload.hpp"

namespace bench {

// queue.cpp: requests of 1, 10, 100 ... items, one after the other.
struct QueuedRow {
  std::size_t items = 0;  // of a request
  std::size_t verifies = 0;
  std::size_t wrong = 0;
  double seconds = 0;
  std::uint64_t cpu_us = 0;       // of the daemon and all its runs
  std::uint64_t paddockd_us = 0;  // of the daemon itself

  double ms_each(std::uint64_t us) const {
    return static_cast<double>(us) / 1000 / static_cast<double>(verifies);
  }
};
std::vector<QueuedRow> measure_queue(const std::string& paddockd,
                                     const std::vector<Problem>& problems, std::size_t items_max);

// memory.cpp: the daemon's memory as it goes on.
struct MemoryPoint {
  std::size_t verifies = 0;
  std::uint64_t resident_bytes = 0;
};
struct Memory {
  std::vector<MemoryPoint> points{};
  std::size_t wrong = 0;
  double slope_bytes_each = 0;  // of the least squares' line, after the first tenth
  double growth = 0;            // the last by that after the first tenth
};
Memory measure_memory(const std::string& paddockd, const std::vector<Problem>& problems,
                      std::size_t verifies);

// flood.cpp: one tenant's items, one at a time, beside nobody and beside a tenant with
// thousands.
struct Flood {
  std::string unsupported{};
  Samples quiet{};
  Samples flooded{};
  std::size_t wrong = 0;
};
Flood measure_flood(const std::string& paddockd, const std::vector<Problem>& problems, int rounds);

}  // namespace bench
