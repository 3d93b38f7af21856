// Linked into the breakable paddock-launch: what it does less of. The C library alone, as there.

#include <linux/close_range.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "breakage/wrapped.hpp"
#include "kernel/confine/launch_wire.hpp"
#include "kernel/launch/control.hpp"

namespace paddock::breakage {
namespace {

// Read before main, which closes the descriptor; a zygote, which loads this later, has a variable.
char name_of_broken[64];
__attribute__((constructor)) void read_name_of_broken() {
  const ssize_t count = ::pread(fd_broken, name_of_broken, sizeof name_of_broken - 1, 0);
  name_of_broken[count < 0 ? 0 : count] = '\0';
  const char* const named = ::getenv(variable);
  if (count < 0 && named != nullptr) ::strncpy(name_of_broken, named, sizeof name_of_broken - 1);
}

bool in_agent = false;

}  // namespace

bool broken(const char* control) {
  return ::strcmp(name_of_broken, control) == 0;
}

bool fails(const char* step) {
  constexpr char prefix[] = "fail:";
  if (::strncmp(name_of_broken, prefix, sizeof prefix - 1) != 0) return false;
  const char* const named = name_of_broken + sizeof prefix - 1;
  const size_t length = ::strlen(step);
  if (::strncmp(named, step, length) != 0 || named[length] != ':') return false;
  errno = ::atoi(named + length + 1);
  return true;
}

// ---- Steps of paddock-launch that are left out whole ----

WRAPPED(void, reset_signals, "_ZN7paddock6launch13reset_signalsEv");
void wrapped_reset_signals() {
  if (!broken("signal_mask")) real_reset_signals();
}

WRAPPED(void, become_unreadable, "_ZN7paddock6launch17become_unreadableEv");
void wrapped_become_unreadable() {
  if (!broken("not_dumpable")) real_become_unreadable();
}

WRAPPED(void, become_preferred_oom_victim, "_ZN7paddock6launch27become_preferred_oom_victimEv");
void wrapped_become_preferred_oom_victim() {
  if (!broken("oom_score")) real_become_preferred_oom_victim();
}

WRAPPED(void, leave_session_keyring, "_ZN7paddock6launch21leave_session_keyringEv");
void wrapped_leave_session_keyring() {
  if (!broken("session_keyring")) real_leave_session_keyring();
}

WRAPPED(void, become_subreaper, "_ZN7paddock6launch16become_subreaperEv");
void wrapped_become_subreaper() {
  if (!broken("subreaper")) real_become_subreaper();
}

WRAPPED(void, kill_and_reap_all, "_ZN7paddock6launch17kill_and_reap_allEb", bool asked_for_socket);
void wrapped_kill_and_reap_all(bool asked_for_socket) {
  if (!broken("survivors")) return real_kill_and_reap_all(asked_for_socket);
  launch::send({.kind = kernel::ControlKind::all_gone});  // which is not so
}

WRAPPED(void, restrict_with_landlock,
        "_ZN7paddock6launch22restrict_with_landlockERKNS_6kernel8SpecViewE",
        const kernel::SpecView& spec);
void wrapped_restrict_with_landlock(const kernel::SpecView& spec) {
  if (!broken("landlock")) real_restrict_with_landlock(spec);
}

}  // namespace paddock::breakage

namespace paddock::breakage {

// Of clone3, which only a zygote calls here.
__attribute__((weak)) uint64_t flags_left_out() {
  return 0;
}

}  // namespace paddock::breakage

// ---- System calls that succeed without being made ----

using paddock::breakage::broken;
using paddock::breakage::fails;
using paddock::breakage::in_agent;

extern "C" {

pid_t __real_fork();
pid_t __wrap_fork() {
  if (fails("fork")) return -1;
  const pid_t pid = __real_fork();
  if (pid == 0) in_agent = true;
  return pid;
}

mode_t __real_umask(mode_t mask);
mode_t __wrap_umask(mode_t mask) {
  return broken("umask") ? mask : __real_umask(mask);
}

int __real_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);
int __wrap_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  if (option == PR_SET_PDEATHSIG && broken("parent_death_signal")) return 0;
  if (option == PR_SET_NO_NEW_PRIVS && broken("no_new_privs")) return 0;
  if (option == PR_CAPBSET_DROP && broken("bounding_set")) return 0;
  if (option == PR_SET_PDEATHSIG && fails("parent_death_signal")) return -1;
  if (option == PR_SET_NO_NEW_PRIVS && fails("no_new_privs")) return -1;
  if (option == PR_SET_CHILD_SUBREAPER && fails("subreaper")) return -1;
  if (option == PR_SET_DUMPABLE && a == 0 && fails("not_dumpable")) return -1;
  if (option == PR_SET_DUMPABLE && a == 1 && fails("dumpable")) return -1;
  if (option == PR_CAP_AMBIENT && fails("ambient")) return -1;
  return __real_prctl(option, a, b, c, d);
}

int __real_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal) {
  if (signal == SIGTERM && broken("term")) return 0;
  if (signal == SIGKILL && broken("kill_after_grace")) return 0;
  return __real_kill(pid, signal);
}

// An agent that does not wait at its gate.
ssize_t __real_read(int fd, void* bytes, size_t count);
ssize_t __wrap_read(int fd, void* bytes, size_t count) {
  if (in_agent && broken("gate")) return 1;
  return __real_read(fd, bytes, count);
}

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (number == SYS_clone3)
    reinterpret_cast<clone_args*>(a)->flags &= ~paddock::breakage::flags_left_out();
  if (number == SYS_capset && broken("capabilities")) return 0;
  if (number == SYS_capget && fails("capget")) return -1;
  if (number == SYS_capset && fails("capset")) return -1;
  if (number == SYS_prlimit64 && fails("prlimit64")) return -1;
  if (number == SYS_close_range && in_agent && fails("close_range")) return -1;
  if (number == SYS_keyctl && a == 1 && fails("keyctl")) return -1;
  if (number == SYS_seccomp && fails("seccomp")) return -1;
  if (number == 444 && fails("landlock_create_ruleset")) return -1;
  if (number == 445 && fails("landlock_add_rule")) return -1;
  if (number == 446 && fails("landlock_restrict_self")) return -1;
  if (number == SYS_setresuid && fails("setresuid")) return -1;
  if (number == SYS_setresgid && fails("setresgid")) return -1;
  if (number == SYS_setgroups && fails("setgroups")) return -1;
  if (number == SYS_setresuid && broken("setresuid")) return 0;
  if (number == SYS_setresgid && broken("setresgid")) return 0;
  if (number == SYS_setgroups && broken("setgroups")) return 0;
  if (number == SYS_rt_sigaction && broken("signal_dispositions")) return 0;
  if (number == SYS_close_range && in_agent && broken("close_range")) return 0;
  return __real_syscall(number, a, b, c, d, e, f);
}

pid_t __real_setsid();
pid_t __wrap_setsid() {
  return fails("setsid") ? -1 : __real_setsid();
}

int __real_pipe2(int* ends, int flags);
int __wrap_pipe2(int* ends, int flags) {
  return fails("pipe2") ? -1 : __real_pipe2(ends, flags);
}

int __real_dup2(int from, int to);
int __wrap_dup2(int from, int to) {
  return fails("dup2") ? -1 : __real_dup2(from, to);
}

int __real_signalfd(int fd, const sigset_t* set, int flags);
int __wrap_signalfd(int fd, const sigset_t* set, int flags) {
  return fails("signalfd") ? -1 : __real_signalfd(fd, set, flags);
}

int __real_sigprocmask(int how, const sigset_t* set, sigset_t* before);
int __wrap_sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  return fails("sigprocmask") ? -1 : __real_sigprocmask(how, set, before);
}

int __real_execve(const char* path, char* const* argv, char* const* environment);
int __wrap_execve(const char* path, char* const* argv, char* const* environment) {
  return fails("execve") ? -1 : __real_execve(path, argv, environment);
}

}  // extern "C"
