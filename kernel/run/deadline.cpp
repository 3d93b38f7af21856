#include "kernel/run/deadline.hpp"

#include "kernel/policy/units.hpp"

namespace paddock::kernel {

std::string deadline_detail(std::chrono::milliseconds wall_clock, std::chrono::milliseconds grace,
                            std::chrono::duration<double> lived) {
  const std::string limit = "wall_seconds (" + format_duration(wall_clock) + ")";
  const std::string of_grace = "grace (" + format_duration(grace) + ")";
  if (lived >= wall_clock + grace) return limit + " and its " + of_grace + " passed";
  return limit + " passed; it ended within its " + of_grace;
}

}  // namespace paddock::kernel
