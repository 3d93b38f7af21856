#pragma once
// How a run ended: one cause, with the numbers.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::kernel {

enum class Cause {
  exited,             // by itself, with exit_code
  signaled,           // by a signal that paddock did not send and no limit explains
  wall_clock,         // its wall_seconds passed
  cpu_limit,          // RLIMIT_CPU
  memory_limit,       // the cgroup's memory_max: seen in the cgroup's own events
  file_size_limit,    // RLIMIT_FSIZE: it died of SIGXFSZ
  killed_by_request,  // a client, or a client that went away
  shutdown,           // the daemon stopped
  cannot_execute,     // execve failed: the program never ran
  cannot_isolate,     // the confinement could not be made or was not seen: the program never ran
  tampered,           // what the run reports and what the kernel shows disagree
  internal,           // a fault of paddock or of the host
};

std::string_view name_of(Cause cause);  // "wall_clock"

// How the agent's own process ended, as the kernel told its parent.
struct Exit {
  int code = -1;                    // 0..255, or -1: it did not exit
  int signal = 0;                   // or 0
  std::uint64_t own_cpu_us = 0;     // of this process alone: what RLIMIT_CPU counts
  std::uint64_t cpu_user_us = 0;    // with all that was reaped below it
  std::uint64_t cpu_system_us = 0;  // the same
  std::uint64_t max_rss_kib = 0;    // of the largest single process

  bool operator==(const Exit&) const = default;
};

// What the RunMachine knows at the end.
struct Ending {
  Cause cause = Cause::internal;
  std::string detail;               // for people: which limit, which step, which errno
  int exec_error = 0;               // errno, if cause is cannot_execute
  std::optional<Exit> exit;         // absent: the agent's process was not seen to end
  bool survivors_unproved = false;  // the run was given up before zero survivors was proved
  bool output_held_open = false;    // somebody kept a pipe; output after the drain time is lost

  bool operator==(const Ending&) const = default;
};

// Limits and observations that sharpen a cause.
struct ClassifyFacts {
  std::optional<std::uint64_t> cpu_seconds;  // RLIMIT_CPU of the run
  std::uint64_t cgroup_oom_kills = 0;        // memory.events, read before the leaf is removed
};

// Which cause the numbers give for an agent that ended by itself. Pure.
Ending classify(Ending ending, const ClassifyFacts& facts);

}  // namespace paddock::kernel
