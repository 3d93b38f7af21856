#pragma once
// The contenders beside each other: each judges all problems, in turns, at several concurrencies.

#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "bench/verify/contender.hpp"

namespace bench {

struct Row {
  std::string name;
  int concurrency = 1;
  std::string missing{};  // then there is nothing else
  Samples latency{};
  double seconds = 0;
  std::size_t wrong = 0;
  std::size_t ran_cold = 0;       // of those that were asked to be warm
  std::uint64_t cpu_us = 0;       // of all that judged, without this client
  std::uint64_t paddockd_us = 0;  // of the daemon itself, without its runs
  std::uint64_t client_us = 0;

  double per_second() const;
  double ms_each(std::uint64_t us) const;  // of what all its verifies have used together
};

struct RowOptions {
  std::vector<int> concurrencies;
  int rounds = 5;
  pid_t paddockd = -1;
};

std::vector<Row> measure_rows(const std::vector<Contender>& contenders, std::size_t problems,
                              const RowOptions& options);

// As many workers as `concurrency`, together `verifies` times; problems in turn.
void judge_all(const Contender& contender, int concurrency, std::size_t verifies,
               std::size_t problems, pid_t paddockd, Row& row);

}  // namespace bench
