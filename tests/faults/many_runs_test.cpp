// Goal: a daemon can go on for weeks. Method: thousands of runs, and then an audit that finds what
// it found at the start.

#include <algorithm>
#include <iostream>

#include "faults/faulty_daemon.hpp"

using namespace paddock::faults;
using nlohmann::json;

TEST_CASE("after thousands of runs the daemon holds what it held at the start") {
  // As many are kept as may be, so that what grows later is a leak.
  FaultyDaemon faulty({.config = "[limits]\nruns_finished = 100\n"});
  const int runs = repetitions("FAULT_RUNS", 300);
  constexpr int together = 16;
  std::size_t settled_kib = 0;
  int exited = 0;
  for (int first = 0; first < runs; first += together) {
    std::vector<std::string> ids;
    const bool sandboxed = first / together % 4 == 0 && sandbox_works();
    for (int i = 0; i < together; ++i)
      ids.push_back(faulty->start({{"profile", sandboxed ? "STRICT" : "OFF"}, {"argv", {"true"}}}));
    for (const std::string& id : ids) {
      faulty.know(id);
      if (faulty->finished(id)["result"]["cause"] == "exited") ++exited;
    }
    if (first >= runs / 3 && settled_kib == 0) settled_kib = faulty.memory_kib();
  }
  CHECK(exited == (runs + together - 1) / together * together);
  faulty.check_nothing_left();
  const std::size_t grown_kib = faulty.memory_kib() - std::min(settled_kib, faulty.memory_kib());
  std::cout << runs << " runs; memory " << faulty.memory_kib() << " KiB, grown by " << grown_kib
            << " KiB since a third of them\n";
  // AddressSanitizer keeps what was freed for a while (256 MiB): without it, this is exact.
  CHECK(grown_kib < (settled_kib > 100 * 1024 ? 262144 : 4096));
}
