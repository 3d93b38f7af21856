// Attempts to outlive the run, to forge its end or to end others. Those that leave something behind
// say "succeeded" at once; the runner looks for what is left ("left-behind" in its arguments).

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "escapes/attempts/tools.hpp"

namespace paddock::escapes {
namespace {

void ignore_polite_signals() {
  for (const int signal : {SIGTERM, SIGHUP, SIGINT, SIGPIPE}) std::signal(signal, SIG_IGN);
}

// Returns in the original process once the one that is to stay is ready.
Outcome leaves(const std::function<void()>& become) {
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) return refused();
  const pid_t child = ::fork();
  if (child < 0) return refused();
  if (child == 0) {
    ignore_polite_signals();
    become();
    [[maybe_unused]] const ssize_t told = ::write(ready[1], "x", 1);
    wait_for_ever();
  }
  ::close(ready[1]);
  char byte = 0;
  return succeeded_if(::read(ready[0], &byte, 1) == 1);
}

void continue_as_orphan() {
  if (::fork() != 0) ::_exit(0);
}

// clone(CLONE_PARENT): a child of this process's parent, which never asked for it.
Outcome leave_sibling() {
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) return refused();
  const long pid = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid < 0) return refused();
  if (pid == 0) {
    ::setsid();
    ignore_polite_signals();
    [[maybe_unused]] const ssize_t told = ::write(ready[1], "x", 1);
    wait_for_ever();
  }
  char byte = 0;
  return succeeded_if(::read(ready[0], &byte, 1) == 1);
}

// A family that forks and ends all the time, so that no list of processes is ever right. It ends by
// itself after two seconds.
Outcome leave_fork_storm() {
  return leaves([] {
    ::setsid();
    const std::time_t end = std::time(nullptr) + 2;
    if (::fork() == 0) {
      while (std::time(nullptr) < end) {
        const pid_t child = ::fork();
        if (child > 0) ::_exit(0);
        if (child < 0) ::usleep(500);
      }
      ::_exit(0);
    }
  });
}

// A parent in vfork(2) cannot be signalled but by SIGKILL.
Outcome leave_vfork() {
  return leaves([] {
    ::setsid();
    if (::fork() == 0) {
      // clone with the flags of vfork: the C library's own would share this stack.
      if (::syscall(SYS_clone, CLONE_VFORK | SIGCHLD, nullptr, nullptr, nullptr, nullptr) == 0)
        wait_for_ever();
    }
  });
}

Outcome leave_traced() {
  return leaves([] {
    ::setsid();
    const pid_t tracee = forks([] {});
    ::ptrace(PTRACE_SEIZE, tracee, nullptr, nullptr);
    ::ptrace(PTRACE_INTERRUPT, tracee, nullptr, nullptr);
  });
}

// Says that it is ready and then does not end by itself.
[[noreturn]] void stay(const char* line = "succeeded") {
  std::puts(line);
  std::fflush(stdout);
  wait_for_ever();
}

// A process whose first thread has ended looks like a zombie.
[[noreturn]] void stay_without_main_thread() {
  ignore_polite_signals();
  std::thread([] { stay(); }).detach();
  ::syscall(SYS_exit, 0);
  ::_exit(1);
}

Outcome signals(pid_t target, int signal) {
  if (::kill(target, signal) != 0) return refused();
  const bool stopped = signal == SIGSTOP;
  const auto gone = [&] {
    if (!stopped) return !is_alive(target);
    const std::string stat = content_of("/proc/" + std::to_string(target) + "/stat");
    return stat.find(") T ") != std::string::npos;
  };
  const bool effective = soon(gone);
  if (stopped) ::kill(target, SIGCONT);
  return effective ? succeeded() : refused_as("ignored", "the signal had no effect");
}

// Under bubblewrap the parent is PID 1 of its namespace, which such signals do not reach. The
// runner's controls have a parent that is there to be killed.
Outcome signals_parent(int signal) {
  return signals(::getppid(), signal);
}

Outcome kills_by_pidfd(pid_t target) {
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, target, 0));
  if (pidfd < 0) return refused();
  if (::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0) != 0) return refused();
  return soon([&] { return !is_alive(target); }) ? succeeded() : refused_as("ignored");
}

Outcome kills_by_queue(pid_t target) {
  sigval value{};
  if (::sigqueue(target, SIGKILL, value) != 0) return refused();
  return soon([&] { return !is_alive(target); }) ? succeeded() : refused_as("ignored");
}

Outcome kills_by_tgkill(pid_t target) {
  if (::syscall(SYS_tgkill, target, target, SIGKILL) != 0) return refused();
  return soon([&] { return !is_alive(target); }) ? succeeded() : refused_as("ignored");
}

// The kernel sends SIGIO for us: another path than kill(2).
Outcome kills_by_sigio(pid_t target) {
  int ends[2];
  if (::pipe(ends) != 0) return refused();
  if (::fcntl(ends[0], F_SETOWN, target) != 0) return refused();
  if (::fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK) != 0) return refused();
  [[maybe_unused]] const ssize_t told = ::write(ends[1], "x", 1);
  const auto dead = [&] { return !is_alive(target); };
  for (int i = 0; i < 50 && !dead(); ++i) ::usleep(1000);
  return dead() ? succeeded() : refused_as("ignored");
}

// Writes to every descriptor that is not a standard stream: one of them could be the launcher's.
Outcome forge_report(const Arguments&) {
  const std::uint32_t message[16] = {};
  for (int fd = 3; fd < 256; ++fd)
    if (::write(fd, message, sizeof message) > 0) return succeeded("fd " + std::to_string(fd));
  return refused();
}

}  // namespace

Attempts life_attempts() {
  using A = const Arguments&;
  return {
      {"life_setsid_daemon", [](A) { return leaves([] { ::setsid(); }); }},
      {"life_setpgid", [](A) { return leaves([] { ::setpgid(0, 0); }); }},
      {"life_double_fork",
       [](A) {
         return leaves([] {
           ::setsid();
           continue_as_orphan();
         });
       }},
      {"life_daemon_closing_all",
       [](A) {
         return leaves([] {
           ::setsid();
           continue_as_orphan();
           for (int fd = 0; fd < 3; ++fd) ::close(fd);
         });
       }},
      {"life_orphan_sigstop_self",
       [](A) {
         return leaves([] {
           ::setsid();
           if (::fork() == 0) ::raise(SIGSTOP);
         });
       }},
      {"life_subreaper",
       [](A) {
         return leaves([] {
           ::setsid();
           ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
           continue_as_orphan();
         });
       }},
      {"life_renamed",
       [](A) {
         return leaves([] {
           ::setsid();
           ::prctl(PR_SET_NAME, ") Z 1 (", 0, 0,
                   0);  // a name that confuses who reads /proc/PID/stat
         });
       }},
      {"life_clone_parent", [](A) { return leave_sibling(); }},
      {"life_fork_storm_during_kill", [](A) { return leave_fork_storm(); }},
      {"life_vfork_hang", [](A) { return leave_vfork(); }},
      {"life_traced_child", [](A) { return leave_traced(); }},
      {"life_stdout_held_open", [](A) { return leaves([] { ::setsid(); }); }},
      {"life_sleep_for_ever", [](A) -> Outcome { stay(); }},
      {"life_ignore_sigterm",
       [](A) -> Outcome {
         ignore_polite_signals();
         stay();
       }},
      {"life_sigstop_self",
       [](A) -> Outcome {
         ignore_polite_signals();
         std::puts("succeeded");
         std::fflush(stdout);
         ::raise(SIGSTOP);
         wait_for_ever();
       }},
      {"life_block_all_signals",
       [](A) -> Outcome {
         sigset_t all;
         sigfillset(&all);
         ::sigprocmask(SIG_BLOCK, &all, nullptr);
         stay();
       }},
      {"life_main_thread_exit", [](A) -> Outcome { stay_without_main_thread(); }},
      {"life_supervisor_sigkill_no_orphans",
       [](A) {
         return leaves([] {
           ::setsid();
           stay();
         });
       }},
      {"life_kill_supervisor_mid_spawn", [](A) -> Outcome { stay(); }},
      {"life_kill_init", [](A) { return signals_parent(SIGKILL); }},
      {"life_stop_init", [](A) { return signals_parent(SIGSTOP); }},
      {"life_segv_init", [](A) { return signals_parent(SIGSEGV); }},
      {"life_kill_supervisor", [](A a) { return signals(a.number("victim"), SIGKILL); }},
      {"life_stop_supervisor", [](A a) { return signals(a.number("victim"), SIGSTOP); }},
      {"life_kill_by_pidfd", [](A a) { return kills_by_pidfd(a.number("victim")); }},
      {"life_kill_by_sigqueue", [](A a) { return kills_by_queue(a.number("victim")); }},
      {"life_kill_by_tgkill", [](A a) { return kills_by_tgkill(a.number("victim")); }},
      {"life_kill_by_sigio", [](A a) { return kills_by_sigio(a.number("victim")); }},
      // Signal 0 asks whether one may, and hurts nobody. The victim leads its process group.
      {"life_signal_init", [](A) { return succeeded_if(::kill(::getppid(), 0) == 0); }},
      {"life_signal_group", [](A a) { return succeeded_if(::kill(-a.number("victim"), 0) == 0); }},
      {"life_forge_exit", forge_report},
      {"life_clear_parent_death_signal",
       [](A) { return succeeded_if(::prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) == 0); }},
  };
}

}  // namespace paddock::escapes
