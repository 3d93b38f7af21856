#include "kernel/launch/guard.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <errno.h>
#include <signal.h>

#include "kernel/launch/control.hpp"
#include "kernel/launch/process_state.hpp"
#include "kernel/launch/survivors.hpp"

namespace paddock::launch {
namespace {

pid_t start_wrapper(const kernel::SpecView& spec) {
  char* environment[] = {nullptr};

  // vfork: the child only resets its signals and executes, and copying no page table is measurable.
  const pid_t pid = ::vfork();
  if (pid < 0) die("vfork", errno);
  if (pid > 0) return pid;
  reset_signals();
  // Control, spec, bwrap's arguments, this program, file contents: every descriptor that the
  // supervisor passed is for bwrap or for the init inside it, which closes them before the agent.
  ::execve(spec.wrapper[0], spec.wrapper, environment);
  die("execute bwrap", errno);
}

void report_wrapper(const siginfo_t& info) {
  const bool exited = info.si_code == CLD_EXITED;
  send({.kind = kernel::ControlKind::wrapper_exited,
        .exited = exited ? info.si_status : -1,
        .signal = exited ? 0 : info.si_status});
}

// True when bwrap itself was among the dead.
bool reap(pid_t wrapper) {
  bool wrapper_died = false;
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG) != 0 || info.si_pid == 0) return wrapper_died;
    if (info.si_pid != wrapper) continue;
    report_wrapper(info);
    wrapper_died = true;
  }
}

}  // namespace

void run_guard(const kernel::SpecView& spec) {
  become_unreadable();
  const pid_t wrapper = start_wrapper(spec);
  ::syscall(SYS_close_range, static_cast<unsigned>(kernel::fd_spec), ~0u, 0u);
  release_standard_streams();
  const int signals = open_signal_descriptor();

  for (bool over = reap(wrapper); !over;) {
    // The control socket is read by the init inside; here only its hang-up counts.
    pollfd watched[] = {{signals, POLLIN, 0}, {kernel::fd_control, 0, 0}};
    if (::poll(watched, 2, -1) < 0 && errno != EINTR) die("poll", errno);
    if ((watched[1].revents & (POLLHUP | POLLERR)) != 0) over = true;
    if (kill_was_ordered(signals)) over = true;
    if (reap(wrapper)) over = true;
  }
  kill_and_reap_all();
}

}  // namespace paddock::launch
