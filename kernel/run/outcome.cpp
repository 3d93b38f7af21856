#include "kernel/run/outcome.hpp"

#include <csignal>

namespace paddock::kernel {

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::exited:
      return "exited";
    case Cause::signaled:
      return "signaled";
    case Cause::wall_clock:
      return "wall_clock";
    case Cause::cpu_limit:
      return "cpu_limit";
    case Cause::memory_limit:
      return "memory_limit";
    case Cause::file_size_limit:
      return "file_size_limit";
    case Cause::killed_by_request:
      return "killed_by_request";
    case Cause::shutdown:
      return "shutdown";
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
// CPU time of the agent's own process is at its limit then; a kill from elsewhere at exactly that
// moment cannot be told apart.
bool cpu_limit_reached(const Exit& exit, const std::optional<std::uint64_t>& cpu_seconds) {
  if (exit.signal == SIGXCPU) return true;
  return exit.signal == SIGKILL && cpu_seconds && exit.own_cpu_us / 1'000'000 >= *cpu_seconds;
}

}  // namespace

Ending classify(Ending ending, const ClassifyFacts& facts) {
  // A kill by the cgroup can take the launcher too, which then looks like tampering.
  const bool open_question = ending.cause == Cause::signaled || ending.cause == Cause::tampered;
  if (open_question && facts.cgroup_oom_kills > 0) {
    ending.cause = Cause::memory_limit;
    ending.detail = "the run's memory passed cgroup memory_max";
    return ending;
  }
  if (ending.cause != Cause::signaled || !ending.exit) return ending;
  if (cpu_limit_reached(*ending.exit, facts.cpu_seconds)) {
    ending.cause = Cause::cpu_limit;
    ending.detail = "cpu_seconds passed";
  } else if (ending.exit->signal == SIGXFSZ) {
    ending.cause = Cause::file_size_limit;
    ending.detail = "a file would have grown past fsize_bytes";
  }
  return ending;
}

}  // namespace paddock::kernel
