#pragma once
// The CLI's exit codes: a contract with scripts, in one place.

#include <string>

#include "kernel/base/error.hpp"
#include "kernel/run/result.hpp"

namespace paddock::supervisor::cli {

constexpr int exit_success = 0;        // the run succeeded; the command did its work
constexpr int exit_error = 1;          // usage or runtime error: nothing is known about a run
constexpr int exit_run_failed = 2;     // it ran and failed, was killed, or timed out
constexpr int exit_invalid_items = 2;  // `verify`: an item has no verdict
constexpr int exit_ledger_edited = 2;  // `ledger verify`: something has been edited
using kernel::exit_cannot_isolate;     // 3: the host cannot give the isolation; nothing ran

int exit_code_of(const kernel::Error& error);

// How a run's end is reported: as paddock's own four codes, or (`--exit-status`) as a shell would.
enum class ExitStyle { paddock, program };

// ExitStyle::program: the program's own code, 128+n for signal n, 124 for the wall clock, 126 or
// 127 if it could not be executed. A run that was killed is never reported as 0.
int exit_code_of(const kernel::SandboxResult& result, ExitStyle style);

}  // namespace paddock::supervisor::cli
