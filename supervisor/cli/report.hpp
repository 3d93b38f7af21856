#pragma once
// What people read after a run: one line on why it did not succeed, or a whole report. Pure; plain
// ASCII as far as the run's own words are.

#include <string>

#include "supervisor/runs/run_record.hpp"

namespace paddock::supervisor::cli {

// "killed after 1.0 s: wall_seconds passed (profile STRICT)". `run` is finished.
std::string ending_line(const RunRecord& run);

// Several lines, aligned: how it ended, what it used, what confined it. `run` is finished.
std::string report(const RunRecord& run);

}  // namespace paddock::supervisor::cli
