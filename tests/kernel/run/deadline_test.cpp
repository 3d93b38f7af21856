#include "kernel/run/deadline.hpp"

#include "support/catch.hpp"

using namespace paddock::kernel;
using std::chrono::duration;
using std::chrono::milliseconds;

TEST_CASE("a passed wall clock names its value and what came of the grace") {
  const milliseconds wall(2000);
  const milliseconds grace(1000);
  CHECK(deadline_detail(wall, grace, duration<double>(3.0)) ==
        "wall_seconds (2s) and its grace (1s) passed");
  CHECK(deadline_detail(wall, grace, duration<double>(2.01)) ==
        "wall_seconds (2s) passed; it ended within its grace (1s)");
}
