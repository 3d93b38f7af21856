#include "kernel/run/host_memory.hpp"

#include <fstream>

#include "kernel/policy/scratch_directory.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;
using std::chrono::steady_clock;

TEST_CASE(
    "a host that has killed for memory may have killed each run of that time, and no later one") {
  const ScratchDirectory scratch;
  const std::string counters = scratch.path() + "/vmstat";
  const auto say = [&](int kills) {
    std::ofstream(counters) << "pgfault 7\noom_kill " << kills << "\nnuma_hit 9\n";
  };
  say(3);
  HostMemory memory(counters);
  const auto first = steady_clock::now();
  CHECK_FALSE(memory.may_have_killed_since(first));
  say(4);
  CHECK(memory.may_have_killed_since(first));
  CHECK(memory.may_have_killed_since(first));  // another run of that time
  const auto later = steady_clock::now();
  CHECK_FALSE(memory.may_have_killed_since(later));
  say(6);
  CHECK(memory.may_have_killed_since(later));
}

TEST_CASE("a host that does not count whom it kills for memory is not blamed") {
  HostMemory memory("/no/such/file");
  CHECK_FALSE(memory.may_have_killed_since(steady_clock::time_point()));
}
