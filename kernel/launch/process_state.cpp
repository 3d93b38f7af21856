#include "kernel/launch/process_state.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <errno.h>
#include <signal.h>

#include "kernel/confine/launch_wire.hpp"
#include "kernel/launch/control.hpp"

namespace paddock::launch {
namespace {

constexpr int last_signal = 64;

// The kernel's call: C libraries keep signals 32 and 33 to themselves.
void signal_action(int signal, const SignalActions::Action* to, SignalActions::Action* from) {
  ::syscall(SYS_rt_sigaction, signal, to, from, sizeof to->words[0]);
}

sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

void reset_signals() {
  // All zero: SIG_DFL. glibc's posix_spawn leaves 32 and 33 ignored in what it starts, a supervisor
  // for example.
  constexpr SignalActions::Action by_default{};
  for (int signal = 1; signal <= last_signal; ++signal) signal_action(signal, &by_default, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void note_signal_actions(SignalActions& actions) {
  for (int signal = 1; signal <= last_signal; ++signal)
    signal_action(signal, nullptr, &actions.of[signal]);
}

void restore_signal_actions(const SignalActions& actions) {
  for (int signal = 1; signal <= last_signal; ++signal)
    if (actions.of[signal].words[0] != 0) signal_action(signal, &actions.of[signal], nullptr);
}

void block_signals() {
  const sigset_t set = awaited_signals();
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0) die("block signals", errno);
}

int open_signal_descriptor() {
  const sigset_t set = awaited_signals();
  const int fd = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) die("signalfd", errno);
  return fd;
}

bool kill_was_ordered(int signals) {
  bool ordered = false;
  signalfd_siginfo info{};
  while (::read(signals, &info, sizeof info) == sizeof info) {
    // As PID 1 of a sandbox only from outside, which the kernel shows as no process: a SIGTERM to
    // PID 1 from inside is without effect, as in any PID namespace.
    const bool from_outside = info.ssi_code == SI_USER && info.ssi_pid == 0;
    if (info.ssi_signo == SIGTERM && (::getpid() != 1 || from_outside)) ordered = true;
  }
  return ordered;
}

void release_standard_streams() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) die("open /dev/null", errno);
  for (int fd = 0; fd <= 2; ++fd) {
    if (::dup2(null, fd) < 0) die("release the standard streams", errno);
  }
  ::close(null);
}

void become_unreadable() {
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) die("become unreadable", errno);
}

void become_preferred_oom_victim() {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0 || ::write(fd, kernel::oom_score_adj, sizeof kernel::oom_score_adj - 1) < 0)
    die("set oom_score_adj", errno);
  ::close(fd);
}

void leave_session_keyring() {
  constexpr int join_session_keyring = 1;  // KEYCTL_JOIN_SESSION_KEYRING
  if (::syscall(SYS_keyctl, join_session_keyring, nullptr) >= 0) return;
  // No keyrings in this kernel, or a container's filter that keeps them from the agent as well.
  if (errno != ENOSYS && errno != EPERM) die("leave the session keyring", errno);
}

int session_keyring() {
  constexpr int get_keyring_id = 0;  // KEYCTL_GET_KEYRING_ID
  constexpr int of_session = -3;     // KEY_SPEC_SESSION_KEYRING
  const long serial = ::syscall(SYS_keyctl, get_keyring_id, of_session, 0);
  return serial < 0 ? 0 : static_cast<int>(serial);
}

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

void become_subreaper() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) die("become a subreaper", errno);
}

}  // namespace paddock::launch
