#pragma once
// What is said of a run whose wall clock passed. Pure.

#include <chrono>
#include <string>

namespace paddock::kernel {

// "wall_seconds (2s) and its grace (1s) passed", or that it ended within its grace.
std::string deadline_detail(std::chrono::milliseconds wall_clock, std::chrono::milliseconds grace,
                            std::chrono::duration<double> lived);

}  // namespace paddock::kernel
