// paddock-warm.so: what makes an interpreter a zygote (rfcs/0013). The interpreter loads it and
// calls paddock_zygote_serve, which returns in the process of each warm run, confined and at the
// opened gate; the program that it is to run and its environment can be asked for then.
//
// The zygote itself reads nothing of a run: descriptors come in and go on to the fork.

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/confine/launch_wire.hpp"
#include "kernel/launch/agent.hpp"
#include "kernel/launch/control.hpp"
#include "kernel/launch/fresh_namespaces.hpp"
#include "kernel/launch/init.hpp"
#include "kernel/launch/process_state.hpp"
#include "kernel/launch/spec.hpp"

namespace paddock::launch {
namespace {

using kernel::fork_descriptors_max;

// The zygote's own: a run has the same that a program of its interpreter begins with.
SignalActions actions_of_interpreter;

// The run's, in its own process; of no other process.
kernel::SpecView spec_of_run;

struct Fork {
  kernel::ForkRequest request;
  int descriptors[fork_descriptors_max] = {};
  size_t count = 0;
};

// As RLIMIT_AS counts; 0: it cannot be told.
uint64_t mapped_bytes() {
  char text[64] = {};
  const int fd = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t count = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (count <= 0) return 0;
  return ::strtoull(text, nullptr, 10) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

bool say_ready(int line) {
  kernel::ZygoteReady ready;
  if (::readlink("/proc/self/exe", ready.program, sizeof ready.program - 1) < 0) return false;
  for (size_t i = 0; i < kernel::namespace_count; ++i) {
    char path[32];
    ::snprintf(path, sizeof path, "/proc/self/ns/%s", kernel::namespace_names[i]);
    char* const link = ready.namespaces[i];
    if (::readlink(path, link, sizeof ready.namespaces[i] - 1) < 0) return false;
  }
  for (size_t i = 0; i < kernel::renewed_mount_count; ++i) {
    struct stat info {};
    if (::stat(kernel::renewed_mounts[i], &info) != 0) return false;
    ready.devices[i] = info.st_dev;
  }
  ready.session_keyring = session_keyring();
  ready.mapped_bytes = mapped_bytes();
  return ::send(line, &ready, sizeof ready, MSG_NOSIGNAL) == sizeof ready;
}

// False: the supervisor is gone, or says what it never would.
bool receive(int line, Fork& fork) {
  fork.count = receive_with_descriptors(line, &fork.request, sizeof fork.request, fork.descriptors,
                                        fork_descriptors_max);
  return fork.count == 5u + fork.request.channel + fork.request.cgroup;
}

long clone_into_fresh_namespaces(bool new_network) {
  clone_args arguments{};
  arguments.flags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
  if (new_network) arguments.flags |= CLONE_NEWNET;
  arguments.exit_signal = SIGCHLD;
  return ::syscall(SYS_clone3, &arguments, sizeof arguments);
}

// Each under the number that launch_wire.hpp gives it, moved out of the way of those first; nothing
// else stays, the zygote's own included. Returns that of cgroup.procs, or -1.
int arrange_descriptors(const Fork& fork) {
  constexpr int above_all_numbers = 64;
  const int numbers[] = {0, 1, 2, kernel::fd_control, kernel::fd_spec};
  int moved[fork_descriptors_max];
  for (size_t i = 0; i < fork.count; ++i)
    moved[i] = ::fcntl(fork.descriptors[i], F_DUPFD_CLOEXEC, above_all_numbers);
  size_t next = 0;
  for (const int number : numbers) ::dup2(moved[next++], number);
  // What could not be moved is not there now: without a control socket nobody can be told.
  if (::fcntl(kernel::fd_control, F_GETFD) < 0) ::_exit(1);
  ::syscall(SYS_close_range, static_cast<unsigned>(kernel::fd_spec + 1), 63u, 0u);
  if (fork.request.channel != 0) ::dup2(moved[next++], kernel::fd_channel);
  int cgroup = -1;
  if (fork.request.cgroup != 0) {
    cgroup = ::dup2(moved[next], kernel::fd_program + 1);
    if (cgroup < 0) die("arrange descriptors", errno);
  }
  ::syscall(SYS_close_range, static_cast<unsigned>(kernel::fd_program + 2), ~0u, 0u);
  return cgroup;
}

void tell_birth() {
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
  if (pidfd < 0) die("open a pidfd", errno);
  send_with_descriptor({.kind = kernel::ControlKind::init_born}, pidfd);
  ::close(pidfd);
}

size_t bytes_of(char** words, size_t count) {
  if (count == 0) return 0;
  const char* const last = words[count - 1];
  return static_cast<size_t>(last + ::strlen(last) + 1 - words[0]);
}

// In the fork. Returns in the agent's process only.
void become_run(const Fork& fork, ForkedFrom zygote) {
  zygote.cgroup = arrange_descriptors(fork);
  reset_signals();
  block_signals();
  char name_of_zygote[16] = {};
  ::prctl(PR_GET_NAME, name_of_zygote, 0, 0, 0);
  ::prctl(PR_SET_NAME, "paddock-launch", 0, 0, 0);
  tell_birth();
  read_spec(spec_of_run);
  furnish_fresh_namespaces(spec_of_run, zygote);
  const int exec_error = run_init(spec_of_run);
  if (exec_error < 0) ::_exit(0);
  ::prctl(PR_SET_NAME, name_of_zygote, 0, 0, 0);
  if (spec_of_run.channel && !take_channel()) ::_exit(127);
  restore_signal_actions(actions_of_interpreter);
  ::syscall(SYS_close_range, static_cast<unsigned>(spec_of_run.channel ? 4 : 3), ~0u, 0u);
}

}  // namespace
}  // namespace paddock::launch

#define PADDOCK_EXPORT extern "C" __attribute__((visibility("default")))

using namespace paddock;

// `line`: the zygote's end of the supervisor's ZygoteLine. Returns 1 in each run's process, and 0
// in the zygote when the supervisor is gone. The caller has one thread.
PADDOCK_EXPORT int paddock_zygote_serve(int line) {
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // a user's other processes may not write into its memory
  launch::note_signal_actions(launch::actions_of_interpreter);
  struct sigaction reap_by_itself {};
  reap_by_itself.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &reap_by_itself, nullptr);
  if (!launch::say_ready(line)) return 0;
  for (;;) {
    launch::Fork fork;
    if (!launch::receive(line, fork)) return 0;
    const launch::ForkedFrom zygote{.uid = ::geteuid(),
                                    .gid = ::getegid(),
                                    .new_network = fork.request.new_network != 0,
                                    .cgroup = -1};
    if (launch::clone_into_fresh_namespaces(zygote.new_network) == 0) {
      launch::become_run(fork, zygote);
      return 1;
    }
    // A fork that cannot be made: its control socket hangs up, and that says it.
    for (size_t i = 0; i < fork.count; ++i) ::close(fork.descriptors[i]);
  }
}

// Of the run. Which of the prepared programs is its code, from 1; 0: none, argv has it.
PADDOCK_EXPORT unsigned paddock_run_prepared_program() {
  return launch::spec_of_run.prepared_program;
}

// Words, each with a NUL at its end, and all of them one block, of so many bytes.
PADDOCK_EXPORT const char* paddock_run_argv() {
  return launch::spec_of_run.argv[0];
}
PADDOCK_EXPORT unsigned long paddock_run_argv_bytes() {
  return launch::bytes_of(launch::spec_of_run.argv, launch::spec_of_run.argv_count);
}
PADDOCK_EXPORT const char* paddock_run_environment() {
  return launch::spec_of_run.environment[0];
}
PADDOCK_EXPORT unsigned long paddock_run_environment_bytes() {
  return launch::bytes_of(launch::spec_of_run.environment, launch::spec_of_run.environment_count);
}

// 0 or 1: whether the run's environment is that of the zygote, so that nothing is to be set.
PADDOCK_EXPORT int paddock_run_has_zygotes_environment() {
  char** ours = ::environ;
  char** theirs = launch::spec_of_run.environment;
  while (*ours != nullptr && *theirs != nullptr && ::strcmp(*ours, *theirs) == 0) ++ours, ++theirs;
  return *ours == nullptr && *theirs == nullptr ? 1 : 0;
}
