#include "kernel/run/spawn_child.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "kernel/confine/launch_wire.hpp"

namespace paddock::kernel {
namespace {

// ---- In the child. It has the memory of a process whose other threads go on: no allocation, no
// lock, and nothing is changed but its own stack. -------------------------------------------------

[[noreturn]] void report_and_exit(int control, const char* step) {
  ControlMessage message{.kind = ControlKind::setup_failed, .error = errno};
  std::strncpy(message.text, step, sizeof message.text - 1);
  ::send(control, &message, sizeof message, MSG_NOSIGNAL);
  ::_exit(0);  // as paddock-launch does: no descendant is left
}

void reset_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  // An order to kill everything that comes before paddock-launch can obey it waits until then.
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGTERM);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
}

// Gives each child descriptor its number, and nothing else to what is executed next: between the
// numbers, too, there may be what this process has open and others would inherit. Sources are first
// moved out of the way of the numbers. Null, or the step that failed.
const char* wire_descriptors(const Wiring& wiring) {
  constexpr int above_all_numbers = 64;
  int moved[above_all_numbers];
  std::size_t count = 0;
  for (const auto& [number, source] : wiring) {
    const int copy = ::fcntl(source, F_DUPFD_CLOEXEC, above_all_numbers);
    if (copy < 0) return "arrange descriptors";
    moved[count++] = copy;
  }
  if (::syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) != 0) return "close_range";
  count = 0;
  for (const auto& [number, source] : wiring) {
    if (::dup2(moved[count++], number) < 0) return "arrange descriptors";
  }
  return nullptr;
}

int control_source(const Wiring& wiring) {
  for (const auto& [number, source] : wiring)
    if (number == fd_control) return source;
  return -1;
}

[[noreturn]] void run_child(const void* argument) {
  const ChildSide& child = *static_cast<const ChildSide*>(argument);
  reset_signals();
  ::setsid();  // a signal from the terminal is for the supervisor, not for the run
  const int control = control_source(*child.wiring);
  if (const char* const step = wire_descriptors(*child.wiring)) report_and_exit(control, step);
  char* const argv[] = {const_cast<char*>("paddock-launch"), const_cast<char*>(child.role),
                        const_cast<char*>(child.run), nullptr};
  char* const environment[] = {nullptr};
  ::syscall(SYS_execveat, fd_launcher, "", argv, environment, AT_EMPTY_PATH);
  report_and_exit(fd_control, "execute paddock-launch");
}

// ---- In the supervisor --------------------------------------------------------------------------

// The C library has no clone3, and its syscall() would return twice on one stack: so the child gets
// its own, and never returns. Negative errno if there is no child.
long clone_and_run(const clone_args& arguments, void (*run)(const void*), const void* argument) {
#if defined(__x86_64__)
  register auto run_register __asm__("r8") = run;
  register auto argument_register __asm__("r9") = argument;
  long result = SYS_clone3;
  __asm__ volatile(
      "syscall\n\t"
      "testq %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xorl %%ebp, %%ebp\n\t"
      "movq %%r9, %%rdi\n\t"
      "callq *%%r8\n\t"
      "ud2\n"
      "1:"
      : "+a"(result)
      : "D"(&arguments), "S"(sizeof arguments), "r"(run_register), "r"(argument_register)
      : "rcx", "r11", "memory", "cc");
  return result;
#elif defined(__aarch64__)
  register long number __asm__("x8") = SYS_clone3;
  register long result __asm__("x0") = reinterpret_cast<long>(&arguments);
  register long size __asm__("x1") = sizeof arguments;
  register auto run_register __asm__("x2") = run;
  register auto argument_register __asm__("x3") = argument;
  __asm__ volatile(
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, xzr\n\t"
      "mov x0, x3\n\t"
      "blr x2\n\t"
      "brk #0\n"
      "1:"
      : "+r"(result)
      : "r"(number), "r"(size), "r"(run_register), "r"(argument_register)
      : "memory", "cc");
  return result;
#else
#error "paddock knows the system calls of x86-64 and aarch64 only"
#endif
}

}  // namespace

Result<pid_t> start_child(const ChildSide& child, int cgroup_directory, int* pidfd) {
  alignas(16) char stack[32 * 1024];  // of the child, for as long as this thread waits for it
  clone_args arguments{};
  arguments.flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<std::uint64_t>(pidfd);
  arguments.exit_signal = SIGCHLD;
  arguments.stack = reinterpret_cast<std::uint64_t>(stack);
  arguments.stack_size = sizeof stack;
  if (cgroup_directory >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(cgroup_directory);
  }
  // A handler of this process must not run in the child before its dispositions are reset.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const long pid = clone_and_run(arguments, run_child, &child);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    errno = static_cast<int>(-pid);
    return fail_needed_call("clone3");
  }
  return static_cast<pid_t>(pid);
}

}  // namespace paddock::kernel
