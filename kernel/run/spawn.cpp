#include "kernel/run/spawn.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <vector>

#include "kernel/confine/launch_wire.hpp"

namespace paddock::kernel {
namespace {

// Source descriptor for each descriptor number of the child.
using Wiring = std::vector<std::pair<int, int>>;  // (number in the child, source here)

struct ChildSide {
  const Wiring* wiring;
  const char* role;
  const char* run;
  bool change_uid;
  uid_t uid;
};

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

// Gives each child descriptor its number. Sources are first moved out of the way of the numbers.
int wire_descriptors(const Wiring& wiring, int* last_number) {
  constexpr int above_all_numbers = 64;
  int moved[above_all_numbers];
  std::size_t count = 0;
  for (const auto& [number, source] : wiring) {
    const int copy = ::fcntl(source, F_DUPFD_CLOEXEC, above_all_numbers);
    if (copy < 0) return -1;
    moved[count++] = copy;
  }
  count = 0;
  for (const auto& [number, source] : wiring) {
    if (::dup2(moved[count++], number) < 0) return -1;
    if (number > *last_number) *last_number = number;
  }
  return 0;
}

// Async-signal-safe from here on: no allocation, no lock.
[[noreturn]] void run_child(const ChildSide& child, int control_source) {
  reset_signals();
  ::setsid();  // a signal from the terminal is for the supervisor, not for the run
  if (child.change_uid) {
    // As root the bounding set can go now; later nobody has the right to drop it.
    for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability)
      ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    if (::syscall(SYS_setgroups, 0, nullptr) != 0) report_and_exit(control_source, "setgroups");
    if (::syscall(SYS_setresgid, child.uid, child.uid, child.uid) != 0)
      report_and_exit(control_source, "setresgid");
    if (::syscall(SYS_setresuid, child.uid, child.uid, child.uid) != 0)
      report_and_exit(control_source, "setresuid");
  }
  int last_number = 2;
  if (wire_descriptors(*child.wiring, &last_number) != 0)
    report_and_exit(control_source, "arrange descriptors");
  if (::syscall(SYS_close_range, static_cast<unsigned>(last_number + 1), ~0u,
                CLOSE_RANGE_CLOEXEC) != 0)
    report_and_exit(fd_control, "close_range");
  char* const argv[] = {const_cast<char*>("paddock-launch"), const_cast<char*>(child.role),
                        const_cast<char*>(child.run), nullptr};
  char* const environment[] = {nullptr};
  ::syscall(SYS_execveat, fd_launcher, "", argv, environment, AT_EMPTY_PATH);
  report_and_exit(fd_control, "execute paddock-launch");
}

Result<pid_t> clone_into(int cgroup_directory, int* pidfd) {
  clone_args arguments{};
  arguments.flags = CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<std::uint64_t>(pidfd);
  arguments.exit_signal = SIGCHLD;
  if (cgroup_directory >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(cgroup_directory);
  }
  const long pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid < 0) return fail_needed_call("clone3");
  return static_cast<pid_t>(pid);
}

// Without these a run could be started, but not be ended or told from another process. Called so
// that they can only fail, and do nothing.
Result<void> check_calls() {
  if (::syscall(SYS_pidfd_send_signal, -1, 0, nullptr, 0) != 0 && errno != EBADF)
    return fail_needed_call("pidfd_send_signal");
  if (::syscall(SYS_pidfd_open, 0, 0) < 0 && errno != EINVAL) return fail_needed_call("pidfd_open");
  return {};
}

struct SocketPair {
  Fd ours;
  Fd theirs;
};

Result<SocketPair> make_control_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("socketpair");
  SocketPair pair{Fd(ends[0]), Fd(ends[1])};
  const int on = 1;
  // The kernel then adds the sender's pid to each packet, translated for us.
  if (::setsockopt(pair.ours.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0)
    return fail_errno("set SO_PASSCRED");
  return pair;
}

Result<void> make_non_blocking(const Fd& fd) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0)
    return fail_errno("make a descriptor non-blocking");
  return {};
}

std::string nul_terminated(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += word + '\0';
  return out;
}

}  // namespace

Result<SpawnedRun> spawn(const Plan& plan, int launcher_executable, int cgroup_directory,
                         int program) {
  TRY_VOID(check_calls());
  Pipe input = TRY(make_pipe());
  Pipe output = TRY(make_pipe());
  Pipe errors = TRY(make_pipe());
  SocketPair control = TRY(make_control_pair());

  std::map<int, Fd> contents;  // closed here once the child has its copies
  contents[fd_spec] = TRY(memory_file("paddock-spec", encode(plan.launch)));
  if (!plan.bubblewrap.empty())
    contents[fd_bubblewrap_args] = TRY(memory_file("bwrap-args", nul_terminated(plan.bubblewrap)));
  for (const auto& [fd, bytes] : plan.files) contents[fd] = TRY(memory_file("paddock-file", bytes));

  Wiring wiring = {{0, input.read_end.get()},
                   {1, output.write_end.get()},
                   {2, errors.write_end.get()},
                   {fd_control, control.theirs.get()},
                   {fd_launcher, launcher_executable}};
  if (program >= 0) wiring.emplace_back(fd_program, program);
  for (const auto& [fd, content] : contents) wiring.emplace_back(fd, content.get());

  const ChildSide child{&wiring, plan.role.c_str(), plan.name.c_str(), plan.host_uid.has_value(),
                        plan.host_uid.value_or(0)};
  // A handler of this process must not run in the child before its dispositions are reset.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  int pidfd = -1;
  const auto pid = clone_into(cgroup_directory, &pidfd);
  if (pid && *pid == 0) run_child(child, control.theirs.get());
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (!pid) return tl::unexpected<Error>(pid.error());

  SpawnedRun run{.launcher = *pid,
                 .launcher_pidfd = Fd(pidfd),
                 .control = std::move(control.ours),
                 .stdin_write = std::move(input.write_end),
                 .stdout_read = std::move(output.read_end),
                 .stderr_read = std::move(errors.read_end)};
  for (const Fd* fd : {&run.control, &run.stdin_write, &run.stdout_read, &run.stderr_read})
    TRY_VOID(make_non_blocking(*fd));
  return run;
}

}  // namespace paddock::kernel
