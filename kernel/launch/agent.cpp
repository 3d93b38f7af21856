#include "kernel/launch/agent.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "kernel/launch/capabilities.hpp"
#include "kernel/launch/control.hpp"
#include "kernel/launch/landlock.hpp"
#include "kernel/launch/process_state.hpp"
#include "kernel/launch/socket_watch.hpp"

namespace paddock::launch {
namespace {

void leave_the_launchers_session(bool new_session) {
  if (new_session) {
    if (::setsid() < 0) die("setsid", errno);
  } else if (::setpgid(0, 0) != 0) {
    die("setpgid", errno);
  }
}

// Mostly the request's mistake, not the host's; the supervisor knows which directories are its own.
void enter_workdir(const char* path) {
  if (::chdir(path) == 0) return;
  kernel::ControlMessage message{.kind = kernel::ControlKind::exec_failed, .error = errno};
  ::strncpy(message.text, "enter the working directory", sizeof message.text - 1);
  send(message);
  ::_exit(127);
}

void apply_rlimits(const kernel::SpecView& spec) {
  for (size_t i = 0; i < spec.rlimit_count; ++i) {
    // Soft == hard: the agent cannot raise what it was given.
    const uint64_t value[2] = {spec.rlimits[i].value, spec.rlimits[i].value};
    if (::syscall(SYS_prlimit64, 0, spec.rlimits[i].resource, value, nullptr) != 0)
      die("set an rlimit", errno);
  }
}

// User namespaces are closed, which the kernel shows to nobody: so it is tried. One that
// can be made is the end of this run, not of the attempt.
bool user_namespace_is_refused() {
  return ::unshare(CLONE_NEWUSER) != 0 && (errno == ENOSPC || errno == EPERM);
}

uint32_t self_seen(const kernel::SpecView& spec) {
  uint32_t seen = 0;
  if (spec.user_namespaces_closed && user_namespace_is_refused())
    seen |= kernel::self_seen_no_user_namespace;
  int signal = 0;
  if (::prctl(PR_GET_PDEATHSIG, &signal, 0, 0, 0) == 0 && signal == SIGKILL)
    seen |= kernel::self_seen_parent_death_signal;
  return seen;
}

// Last, because what comes before it calls much that an agent has no business to call.
void load_filter(const kernel::SpecView& spec) {
  if (spec.filter_length == 0) return;
  const sock_fprog program{
      static_cast<unsigned short>(spec.filter_length),
      reinterpret_cast<sock_filter*>(const_cast<char*>(spec.filter))};  // the kernel only reads it
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
    die("load the system call filter", errno);
}

void look_for_channel(const kernel::SpecView& spec) {
  if (spec.channel && ::fcntl(kernel::fd_channel, F_GETFD) < 0) die("find the channel", errno);
}

void wait_at_gate(int gate) {
  char byte = 0;
  ssize_t count = 0;
  while ((count = ::read(gate, &byte, 1)) < 0 && errno == EINTR) {
  }
  if (count != 1) ::_exit(1);  // the launcher is gone, or the supervisor refused the run
}

}  // namespace

void confine_agent(const kernel::SpecView& spec, int gate) {
  reset_signals();
  // If the launcher dies, so does the agent. The check after it closes the race with that death.
  const pid_t launcher = ::getppid();
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) die("set parent-death signal", errno);
  if (::getppid() != launcher) ::_exit(1);

  leave_the_launchers_session(spec.new_session);
  ::umask(022);
  enter_workdir(spec.workdir);
  apply_rlimits(spec);
  drop_capabilities();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) die("set no_new_privs", errno);
  // Readable for the supervisor, which now looks at the namespaces through /proc. Nothing foreign
  // runs in this process yet, and execve makes it dumpable in any case.
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) die("become readable", errno);
  look_for_channel(spec);
  // 3 and up: control socket, channel, gate, and whatever a later change forgets. What is not
  // executed closes them itself.
  if (::syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */) != 0)
    die("close_range", errno);
  restrict_with_landlock(spec);
  const kernel::ControlMessage ready{.kind = kernel::ControlKind::agent_ready,
                                     .landlock_seen = landlock_seen(),
                                     .self_seen = self_seen(spec),
                                     .session_keyring = session_keyring()};
  if (spec.watch_sockets) watch_sockets(gate);
  load_filter(spec);

  send(ready);
  wait_at_gate(gate);
}

void execute_program(const kernel::SpecView& spec, int exec_error) {
  environ = spec.environment;
  if (!spec.channel || take_channel()) ::execvp(spec.argv[0], spec.argv);
  const int error = errno;
  [[maybe_unused]] const ssize_t ignored = ::write(exec_error, &error, sizeof error);
  ::_exit(127);
}

// After this nothing can be said to the supervisor any more: the control socket has that number. It
// is the one descriptor from 3 that the program gets.
bool take_channel() {
  return ::dup2(kernel::fd_channel, kernel::channel_fd) >= 0;
}

}  // namespace paddock::launch
