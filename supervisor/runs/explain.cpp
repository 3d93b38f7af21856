#include "supervisor/runs/explain.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fmt/format.h>

#include "kernel/base/signal_name.hpp"
#include "kernel/policy/units.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Cause;
using kernel::readable_bytes;
using kernel::readable_seconds;
using kernel::SandboxResult;
using kernel::signal_name;

// A run, and the words in which its texts speak of it.
class Case {
 public:
  explicit Case(const RunRecord& run) : run_(run), result_(*run.result) {}

  const RunRecord& run() const { return run_; }
  const SandboxResult& result() const { return result_; }

  std::string policy(std::string_view key) const {
    const std::string value = policy_value(run_.policy_text, key);
    return value.empty() ? "(not known any more)" : value;
  }
  double cpu_s() const {
    return static_cast<double>(result_.cpu_user_us + result_.cpu_system_us) / 1e6;
  }
  // Of the time it had: did it compute, or wait?
  double busy() const { return result_.duration_s > 0 ? cpu_s() / result_.duration_s : 0; }
  std::string times() const {
    return fmt::format("It ran for {} and used {} of CPU time.",
                       readable_seconds(result_.duration_s), readable_seconds(cpu_s()));
  }
  std::string detail() const { return result_.detail.empty() ? "no detail" : result_.detail; }
  std::string in_profile(std::string_view key) const {
    return fmt::format("{} in profile {}", key, run_.profile);
  }

 private:
  const RunRecord& run_;
  const SandboxResult& result_;
};

Explanation exited(const Case& of) {
  Explanation text;
  text.limit = fmt::format("No limit of Paddock ended it: the program itself exited with {}.",
                           of.result().exit_code);
  text.observed =
      of.times() + fmt::format(
                       " Its largest process had {} in memory; memory_bytes is {}, "
                       "of address space for each process.",
                       readable_bytes(of.result().max_rss_bytes), of.policy("memory_bytes"));
  text.change =
      "Read its stderr. A program that is refused memory, a file, the network or a process by its "
      "profile sees a failed call and exits by itself: if it complains about one of these, compare "
      "with paddock profile show " +
      of.run().profile + ". Node, Go and the JVM need the address space of profiles NODE, GO, JVM.";
  return text;
}

Explanation signaled(const Case& of) {
  Explanation text;
  text.limit = fmt::format("No limit of Paddock ended it: it was ended by {}.",
                           signal_name(of.result().signal));
  text.observed = of.times() + fmt::format(" Its largest process had {} in memory.",
                                           readable_bytes(of.result().max_rss_bytes));
  text.change =
      of.result().signal == SIGKILL
          ? "Nobody of Paddock sent that signal. If the host's kernel log has an out-of-memory "
            "kill "
            "at that time, the host needs more memory or fewer runs at once."
          : "Look for the fault in the program; if it dies of a failed allocation, memory_bytes (" +
                of.policy("memory_bytes") + " of address space for each process) may be too small.";
  return text;
}

Explanation wall_clock(const Case& of) {
  Explanation text;
  text.limit = fmt::format(
      "wall_seconds, {}, passed: it was sent SIGTERM, with grace_seconds, {}, until SIGKILL.",
      of.policy("wall_seconds"), of.policy("grace_seconds"));
  constexpr double mostly = 0.5;
  text.observed =
      of.times() + (of.busy() >= mostly ? " So it was computing, not waiting."
                                        : " So it was waiting for something, not computing.");
  text.change =
      of.busy() >= mostly
          ? "Raise " + of.in_profile("wall_seconds") +
                ", up to which --wall can give it more time; or give it less to do."
          : "Find what it waits for: input that never ends, the network (deny_network is " +
                of.policy("deny_network") + "), or a lock. A larger " +
                of.in_profile("wall_seconds") + " helps only if that comes late.";
  return text;
}

Explanation host_overloaded(const Case& of) {
  Explanation text;
  text.limit = fmt::format(
      "wall_seconds, {}, passed while others had the CPU: the host is at fault, not the run.",
      of.policy("wall_seconds"));
  text.observed = of.times() + " It was ready to run for half of that or more and had no CPU.";
  text.change =
      "Run it again. If it happens often, lower runs_alive in the daemon's [limits], or give runs "
      "a "
      "cpu_max in a delegated cgroup, so that none takes the CPU from the others.";
  return text;
}

Explanation cpu_limit(const Case& of) {
  Explanation text;
  text.limit = fmt::format("cpu_seconds, {}, is the CPU time that each process may use.",
                           of.policy("cpu_seconds"));
  text.observed = of.times();
  text.change = "Give it more with --cpu, or raise " + of.in_profile("cpu_seconds") +
                "; or split its work over several processes, of which each has that much.";
  return text;
}

Explanation memory_limit(const Case& of) {
  Explanation text;
  text.limit = fmt::format(
      "cgroup.memory_max, {}, is the memory of the run as a whole, its files in /tmp included.",
      of.policy("cgroup.memory_max"));
  text.observed = fmt::format("{}; the largest single process had {} at its peak.", of.detail(),
                              readable_bytes(of.result().max_rss_bytes));
  text.change = fmt::format(
      "Raise {} ([cgroup]; memory_bytes, {}, bounds each process besides); or make it use less: "
      "fewer "
      "processes at once, smaller files in /tmp.",
      of.in_profile("memory_max"), of.policy("memory_bytes"));
  return text;
}

Explanation pids_limit(const Case& of) {
  Explanation text;
  text.limit = fmt::format("cgroup.pids_max, {}, is the number of processes and threads at once.",
                           of.policy("cgroup.pids_max"));
  text.observed = fmt::format("{}. {}", of.detail(), of.times());
  text.change =
      "Raise " + of.in_profile("pids_max") + " ([cgroup]; nproc, " + of.policy("nproc") +
      ", counts them as well), or start fewer at once: make -j, a pool's size, threads of a "
      "numeric library (OMP_NUM_THREADS).";
  return text;
}

Explanation file_size_limit(const Case& of) {
  Explanation text;
  text.limit =
      fmt::format("fsize_bytes, {}, is how long a file may get.", of.policy("fsize_bytes"));
  text.observed = of.detail() + ".";
  text.change =
      "Raise " + of.in_profile("fsize_bytes") +
      ", or write several smaller files. A writable tmpfs has a size of its own: tmp_bytes, " +
      of.policy("tmp_bytes") + ".";
  return text;
}

Explanation output_limit(const Case& of) {
  Explanation text;
  text.limit =
      fmt::format("output_stop_bytes, {}, is how much it may write to stdout and stderr together.",
                  of.policy("output_stop_bytes"));
  text.observed = fmt::format("It wrote {} to stdout and {} to stderr.",
                              readable_bytes(of.result().stdout_bytes),
                              readable_bytes(of.result().stderr_bytes));
  text.change = "Make it write less, or into a file; or raise " +
                of.in_profile("output_stop_bytes") + ". Of each stream output_bytes, " +
                of.policy("output_bytes") + ", are kept.";
  return text;
}

Explanation syscall_denied(const Case& of) {
  Explanation text;
  text.limit =
      fmt::format("The system call filter (seccomp = \"{}\") does not allow a call that it made.",
                  of.policy("seccomp"));
  text.observed = of.detail() + ". " + of.times();
  text.change =
      "To find the call: run it as your own user with strace -f, or look for type=SECCOMP in the "
      "kernel's audit log (journalctl -k): its syscall= number is a name in ausyscall. If the call "
      "is "
      "harmless, a profile with seccomp = \"default\" forbids only what an administrator needs.";
  return text;
}

Explanation stopped(const Case& of, std::string_view by, std::string_view change) {
  Explanation text;
  text.limit = fmt::format("No limit: {}.", by);
  text.observed = of.result().duration_s > 0 ? of.times() : "It had not started.";
  text.change = change;
  return text;
}

// The run of a long-running agent, which the daemon ended with a reason.
Explanation stopped_agent(const Case& of) {
  const std::string& agent = of.run().agent;
  const std::string& why = of.result().detail;
  std::string change = "paddock agent start " + agent + " starts it again.";
  if (why.starts_with("no 'ready'"))
    change =
        "An agent with protocol = \"jsonl\" writes {\"type\":\"ready\"} and a newline to stdout "
        "when "
        "it has read 'init', and flushes it. One that does not speak it needs protocol = "
        "\"plain\".";
  if (why.find("budget") != std::string::npos)
    change = "Give it more with paddock budget grant " + agent + " DIM AMOUNT. " + change;
  return stopped(of, "the daemon ended it: " + why, change);
}

Explanation cannot_execute(const Case& of) {
  const std::string program = of.run().argv.empty() ? "" : of.run().argv.front();
  Explanation text;
  text.limit = "The program could not be started; it was confined as its profile says by then.";
  text.observed = fmt::format("{} ('{}').", of.detail(), program);
  switch (of.result().exec_error) {
    case ENOENT:
    case ENOTDIR:
      text.change =
          "Inside the sandbox there is only what the profile binds: name it with --bind-ro, or use "
          "a "
          "program below /usr. The interpreter of a script's first line must be there, too.";
      break;
    case EACCES:
    case EPERM:
      text.change =
          "Its file must be executable for the run's user, as must each directory above it; as "
          "root "
          "a run has a user of its own.";
      break;
    case ENOEXEC:
      text.change =
          "It is no program for this machine; a script needs a first line such as #!/bin/sh.";
      break;
    default:
      text.change =
          "Look at the file, and at the limits of the profile: a large program may not fit "
          "into memory_bytes, " +
          of.policy("memory_bytes") + ".";
  }
  return text;
}

Explanation cannot_isolate(const Case& of) {
  Explanation text;
  text.limit =
      "The confinement that the profile asks for could not be made or was not seen on the process: "
      "the program did not run.";
  text.observed = of.detail() + ".";
  text.change = fmt::format(
      "paddock doctor --profile {} tries each control on this host and says how to mend what is "
      "missing. With --allow-degraded a control may be missing, and the record names it.",
      of.run().profile);
  return text;
}

Explanation tampered(const Case& of) {
  Explanation text;
  text.limit =
      "What the run reported and what the kernel showed disagree: something in it interfered with "
      "its own supervision, so its result is not believed.";
  text.observed = of.detail() + ". " + of.times();
  text.change =
      "Look at what the program does to other processes, and treat its code as hostile. "
      "Under a profile with bubblewrap (STRICT) it cannot reach its launcher.";
  return text;
}

Explanation internal(const Case& of) {
  Explanation text;
  text.limit = "No limit: Paddock or the host failed, not the run.";
  text.observed = of.detail() + ".";
  text.change =
      "Run it again. If it stays, paddock doctor tells about the host, and the daemon's log "
      "about the daemon.";
  return text;
}

Explanation of_finished(const Case& of) {
  switch (of.result().cause) {
    case Cause::exited:
      return exited(of);
    case Cause::signaled:
      return signaled(of);
    case Cause::wall_clock:
      return wall_clock(of);
    case Cause::host_overloaded:
      return host_overloaded(of);
    case Cause::cpu_limit:
      return cpu_limit(of);
    case Cause::memory_limit:
      return memory_limit(of);
    case Cause::pids_limit:
      return pids_limit(of);
    case Cause::file_size_limit:
      return file_size_limit(of);
    case Cause::output_limit:
      return output_limit(of);
    case Cause::syscall_denied:
      return syscall_denied(of);
    case Cause::killed_by_request:
      if (!of.result().detail.empty() && of.result().detail != still_queued_detail)
        return stopped_agent(of);
      return stopped(
          of, "a client asked for its end, or went away while it waited for the outcome",
          "If nobody asked: a client that waits or streams takes its run with it when it "
          "goes. Start it with \"detach\": true, and it lives on.");
    case Cause::shutdown:
      return stopped(
          of, "the daemon was drained or shut down",
          "Run it again. A longer drain_seconds, or paddock drain --deadline, gives runs "
          "more time to finish.");
    case Cause::daemon_restart:
      return stopped(of, "the daemon was killed while it ran, and its successor found it",
                     "Run it again. The daemon's log and the host's kernel log tell why the daemon "
                     "was killed.");
    case Cause::cannot_execute:
      return cannot_execute(of);
    case Cause::cannot_isolate:
      return cannot_isolate(of);
    case Cause::tampered:
      return tampered(of);
    case Cause::internal:
      return internal(of);
  }
  return internal(of);
}

}  // namespace

std::string policy_value(std::string_view policy_text, std::string_view key) {
  const std::string begin = std::string(key) + " = ";
  while (!policy_text.empty()) {
    const std::string_view line = policy_text.substr(0, policy_text.find('\n'));
    if (line.starts_with(begin)) return std::string(line.substr(begin.size()));
    policy_text.remove_prefix(std::min(policy_text.size(), line.size() + 1));
  }
  return {};
}

Explanation explain(const RunRecord& run) {
  if (!run.result)
    return {.needed = false,
            .limit = fmt::format("It is {}: there is nothing to explain yet.", name_of(run.phase)),
            .observed = {},
            .change = {}};
  if (run.result->cause == Cause::exited && run.result->exit_code == 0)
    return {.needed = false,
            .limit = "It succeeded: there is nothing to explain.",
            .observed = {},
            .change = {}};
  const Case of(run);
  Explanation text = of_finished(of);
  if (!run.degraded.empty())
    text.observed += fmt::format(" It ran degraded: {}.", fmt::join(run.degraded, ", "));
  return text;
}

}  // namespace paddock::supervisor
