#include "kernel/run/outcome.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace paddock::kernel {

static_assert(all_causes.size() == static_cast<std::size_t>(Cause::internal) + 1);

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::exited:
      return "exited";
    case Cause::signaled:
      return "signaled";
    case Cause::wall_clock:
      return "wall_clock";
    case Cause::host_overloaded:
      return "host_overloaded";
    case Cause::cpu_limit:
      return "cpu_limit";
    case Cause::memory_limit:
      return "memory_limit";
    case Cause::pids_limit:
      return "pids_limit";
    case Cause::file_size_limit:
      return "file_size_limit";
    case Cause::output_limit:
      return "output_limit";
    case Cause::syscall_denied:
      return "syscall_denied";
    case Cause::killed_by_request:
      return "killed_by_request";
    case Cause::shutdown:
      return "shutdown";
    case Cause::daemon_restart:
      return "daemon_restart";
    case Cause::cannot_execute:
      return "cannot_execute";
    case Cause::cannot_isolate:
      return "cannot_isolate";
    case Cause::tampered:
      return "tampered";
    case Cause::internal:
      return "internal";
  }
  return "internal";
}

namespace {

// The kernel sends SIGKILL when soft == hard, and SIGXCPU when only the soft limit has passed. The
// CPU time of the agent's own process is at its limit then; a signal from elsewhere before that is
// just a signal, and at exactly that moment cannot be told apart.
bool cpu_limit_reached(const Exit& exit, const std::optional<std::uint64_t>& cpu_seconds) {
  return (exit.signal == SIGKILL || exit.signal == SIGXCPU) && cpu_seconds &&
         exit.own_cpu_us / 1'000'000 >= *cpu_seconds;
}

bool ended_by_itself(Cause cause) {
  return cause == Cause::exited || cause == Cause::signaled;
}

bool succeeded(const Ending& ending) {
  return ending.cause == Cause::exited && ending.exit && ending.exit->code == 0;
}

// The kernel's counters tell of any process of the run. The agent can have gone on after a child of
// its was killed, and exit as it likes; a kill of the whole leaf takes the launcher too, which then
// looks like tampering.
bool killed_for_memory(const Ending& ending, const ClassifyFacts& facts) {
  return facts.cgroup.oom_kills > 0 &&
         (ended_by_itself(ending.cause) || ending.cause == Cause::tampered);
}

Ending with_cause(Ending ending, Cause cause, std::string detail) {
  ending.cause = cause;
  ending.detail = std::move(detail);
  return ending;
}

}  // namespace

bool starved(const Starvation& seen) {
  if (seen.gives_way) return false;
  const std::uint64_t half = seen.wall_us / 2;
  const std::uint64_t others =
      seen.waited_us - std::min(seen.waited_us, seen.throttled_us) + seen.late_us;
  return others >= half && seen.cpu_used_us < half;
}

Ending classify(Ending ending, const ClassifyFacts& facts) {
  if (killed_for_memory(ending, facts)) {
    // The leaf was not at its own limit: an outer cgroup or the host itself had no memory left.
    if (facts.cgroup.oom_events == 0)
      return with_cause(std::move(ending), Cause::internal,
                        "the host ran out of memory and the kernel killed a process of the run");
    return with_cause(std::move(ending), Cause::memory_limit,
                      "the run's memory passed cgroup memory_max");
  }
  if (ending.cause == Cause::wall_clock && facts.starvation && starved(*facts.starvation))
    return with_cause(std::move(ending), Cause::host_overloaded,
                      "wall_seconds passed while others had the CPU for half of the time or more");
  if (!ended_by_itself(ending.cause) || !ending.exit) return ending;
  if (cpu_limit_reached(*ending.exit, facts.cpu_seconds))
    return with_cause(std::move(ending), Cause::cpu_limit, "cpu_seconds passed");
  if (ending.exit->signal == SIGKILL && facts.host_may_have_killed)
    return with_cause(std::move(ending), Cause::internal,
                      "it was killed, and the host ran out of memory meanwhile");
  if (ending.exit->signal == SIGXFSZ)
    return with_cause(std::move(ending), Cause::file_size_limit,
                      "a file would have grown past fsize_bytes");
  if (ending.exit->signal == SIGSYS)
    return with_cause(std::move(ending), Cause::syscall_denied,
                      "a system call that the filter does not allow (SIGSYS)");
  // It ended in the moment in which it would have been stopped. The same output gives the same
  // cause.
  if (facts.output_stop_bytes && facts.output_bytes > *facts.output_stop_bytes)
    return with_cause(std::move(ending), Cause::output_limit, output_limit_detail);
  // Last: a refused fork may have been handled, and a signal that names another limit says more.
  if (facts.cgroup.pids_refused > 0 && !succeeded(ending))
    return with_cause(std::move(ending), Cause::pids_limit,
                      "the run was refused processes at cgroup pids_max, and failed");
  return ending;
}

}  // namespace paddock::kernel
