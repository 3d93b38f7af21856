#pragma once
// SandboxResult: what a caller gets when a run is over. The first block has the AgentSandbox RFC's
// fields and names; the rest says what confined the run and how it ended, exactly.

#include <cstdint>
#include <cstdio>  // declares the macros stdout and stderr, which glibc defines as themselves
#include <optional>
#include <string>
#include <vector>

#include "kernel/run/outcome.hpp"
#include "kernel/run/receipt.hpp"

namespace paddock::kernel {

struct SandboxResult {
  int exit_code = 0;  // 0..255; -N if signal N ended it; -9 if it was killed before it could say,
                      // and for tampered, which is not believed;
                      // 127 for cannot_execute and -1 for cannot_isolate: the program never ran
  std::string stdout;
  std::string stderr;
  double duration_s = 0;                  // wall time from the opened gate to the end
  bool timed_out = false;                 // cause == wall_clock or host_overloaded
  std::optional<std::string> rlimit_hit;  // "cpu", "memory", "fsize", or none
  bool killed = false;                    // ended by paddock or by a limit, not by itself

  Cause cause = Cause::internal;
  std::string detail;  // for people
  int signal = 0;
  int exec_error = 0;  // errno, for cannot_execute

  bool stdout_truncated = false;
  bool stderr_truncated = false;
  std::uint64_t stdout_bytes = 0;  // written by the run, kept or not
  std::uint64_t stderr_bytes = 0;
  bool output_held_open = false;  // a pipe was still open when the drain time passed

  double setup_s = 0;  // from spawn to the opened gate
  std::uint64_t cpu_user_us = 0;
  std::uint64_t cpu_system_us = 0;
  std::uint64_t max_rss_bytes = 0;  // of the largest single process
  std::uint64_t written_bytes = 0;  // to files on disks; what is in memory alone (/tmp, /workspace
                                    // and /dev/shm under bubblewrap) does not count
  bool survivors_unproved = false;

  std::string profile;
  std::string policy_hash;
  std::optional<Receipt> receipt;     // absent: the agent's process was never ready
  std::vector<std::string> degraded;  // controls asked for and missing

  bool operator==(const SandboxResult&) const = default;
};

// The RFC's fields from an ending. Pure.
void apply_ending(const Ending& ending, SandboxResult& result);

}  // namespace paddock::kernel
