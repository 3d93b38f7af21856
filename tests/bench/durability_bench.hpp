#pragma once
// What durability costs: each part of durability_bench measures one thing and adds what it saw.

#include <string>
#include <vector>

namespace bench {

struct Measure {
  std::string name;  // ends in its unit
  double value = 0;
};
using Measures = std::vector<Measure>;

struct DurabilityOptions {
  std::string programs;  // the directory of paddockd and paddock
  std::string profiles;
  int runs = 600;
  int agents = 500;
  int rows = 1'000'000;
};

// durability_recording.cpp: the same runs with a recorder that stores nothing, and with the ledger.
void measure_recording(const DurabilityOptions& options, Measures& measures);
// durability_agents.cpp: the daemon's memory with agents alive, and what is left by a SIGKILL.
void measure_agents(const DurabilityOptions& options, Measures& measures);
// durability_restart.cpp: a daemon's start on a ledger with many rows, and a step of pruning it.
void measure_restart(const DurabilityOptions& options, Measures& measures);

}  // namespace bench
