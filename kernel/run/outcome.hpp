#pragma once
// How a run ended: one cause, with the numbers.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernel/confine/cgroup.hpp"

namespace paddock::kernel {

enum class Cause {
  exited,             // by itself, with exit_code
  signaled,           // by a signal that paddock did not send and no limit explains
  wall_clock,         // its wall_seconds passed
  host_overloaded,    // the same, while the host kept the CPU from it: see starved()
  cpu_limit,          // RLIMIT_CPU
  memory_limit,       // the cgroup's memory_max: the kernel killed one of its processes for it
  pids_limit,         // the cgroup's pids_max: a fork was refused, and the run then failed
  file_size_limit,    // RLIMIT_FSIZE: it died of SIGXFSZ
  output_limit,       // output_stop_bytes: it wrote more to stdout and stderr together
  syscall_denied,     // the system call filter: the agent's own process died of SIGSYS
  killed_by_request,  // a client, or a client that went away
  shutdown,           // the daemon stopped
  daemon_restart,     // the daemon was killed; its successor found the run in the ledger
  cannot_execute,     // execve failed: the program never ran
  cannot_isolate,     // the confinement could not be made or was not seen: the program never ran
  tampered,           // what the run reports and what the kernel shows disagree
  internal,           // a fault of paddock or of the host
};

inline constexpr std::array all_causes = {
    Cause::exited,         Cause::signaled,       Cause::wall_clock,        Cause::host_overloaded,
    Cause::cpu_limit,      Cause::memory_limit,   Cause::pids_limit,        Cause::file_size_limit,
    Cause::output_limit,   Cause::syscall_denied, Cause::killed_by_request, Cause::shutdown,
    Cause::daemon_restart, Cause::cannot_execute, Cause::cannot_isolate,    Cause::tampered,
    Cause::internal};

std::string_view name_of(Cause cause);  // "wall_clock"

// How the agent's own process ended, as the kernel told its parent.
struct Exit {
  int code = -1;                    // 0..255, or -1: it did not exit
  int signal = 0;                   // or 0
  std::uint64_t own_cpu_us = 0;     // of this process alone: what RLIMIT_CPU counts
  std::uint64_t cpu_user_us = 0;    // with all that was reaped below it
  std::uint64_t cpu_system_us = 0;  // the same
  std::uint64_t max_rss_kib = 0;    // of the largest single process
  std::uint64_t written_bytes = 0;  // to files on disks, with all that was reaped below it

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

// What the host gave a run until its deadline.
struct Starvation {
  std::uint64_t wall_us = 0;      // since its program was started
  std::uint64_t cpu_used_us = 0;  // by all of the run
  std::uint64_t waited_us = 0;    // ready to run and without a CPU: time in which one of the leaf's
                                  // processes was, or without a leaf the longest of one thread
  std::uint64_t throttled_us = 0;  // of that, at the run's own cpu_max
  bool gives_way = false;          // part of it has lowered its own priority
  std::uint64_t late_us = 0;       // for which the supervisor was held up when the deadline passed

  bool operator==(const Starvation&) const = default;
};

// Did the run pass its deadline because others had the CPU? It waited for one for half of its time
// or more, and used less than half a CPU's worth. Both are needed: processes of one run that wait
// for each other use the CPU between them, and what sleeps uses little but does not wait. Doubt is
// resolved against the run: one with several threads that got half a CPU, or whose CPUs were
// throttled for as long as it waited, is not starved. Neither is one that lowered its own priority:
// then it waits because it lets others go first. What the supervisor was late counts as if it had
// waited for a CPU: it may have waited for the supervisor, which feeds it. Pure.
bool starved(const Starvation& seen);

// Limits and observations that sharpen a cause.
struct ClassifyFacts {
  std::optional<std::uint64_t> cpu_seconds;  // RLIMIT_CPU of the run
  CgroupUsage cgroup{};                      // of the run's leaf at its end; zeros without one
  std::uint64_t output_bytes = 0;            // written to stdout and stderr together
  std::optional<std::uint64_t> output_stop_bytes{};
  std::optional<Starvation> starvation{};  // measured at the deadline, if it passed
  bool host_may_have_killed = false;  // for want of memory, and no leaf says whose process it was
};

inline constexpr const char* output_limit_detail = "more output than output_stop_bytes";

// Which cause the numbers give for an agent that ended by itself, and whose fault a passed deadline
// is. What paddock ended for another reason keeps its cause. Pure.
Ending classify(Ending ending, const ClassifyFacts& facts);

}  // namespace paddock::kernel
