#include "kernel/run/spawn.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <vector>

#include "kernel/confine/launch_wire.hpp"
#include "kernel/run/channel.hpp"
#include "kernel/run/spawn_child.hpp"

namespace paddock::kernel {
namespace {

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

Result<RunStreams> RunStreams::make() {
  TRY_VOID(check_calls());
  RunStreams streams;
  streams.input = TRY(make_pipe());
  streams.output = TRY(make_pipe());
  streams.errors = TRY(make_pipe());
  SocketPair control = TRY(make_control_pair());
  streams.control = std::move(control.ours);
  streams.control_theirs = std::move(control.theirs);
  return streams;
}

Result<SpawnedRun> RunStreams::ours() {
  SpawnedRun run;
  run.control = std::move(control);
  run.stdin_write = std::move(input.write_end);
  run.stdout_read = std::move(output.read_end);
  run.stderr_read = std::move(errors.read_end);
  for (const Fd* fd : {&run.control, &run.stdin_write, &run.stdout_read, &run.stderr_read})
    TRY_VOID(make_non_blocking(*fd));
  return run;
}

Result<SpawnedRun> spawn(const Plan& plan, int launcher_executable, int cgroup_directory,
                         int program, int channel) {
  RunStreams streams = TRY(RunStreams::make());
  std::map<int, Fd> contents;  // closed here once the child has its copies
  contents[fd_spec] = TRY(memory_file("paddock-spec", encode(plan.launch)));
  if (!plan.bubblewrap.empty())
    contents[fd_bubblewrap_args] = TRY(memory_file("bwrap-args", nul_terminated(plan.bubblewrap)));
  for (const auto& [fd, bytes] : plan.files) contents[fd] = TRY(memory_file("paddock-file", bytes));

  Wiring wiring = {{0, streams.input.read_end.get()},
                   {1, streams.output.write_end.get()},
                   {2, streams.errors.write_end.get()},
                   {fd_control, streams.control_theirs.get()},
                   {fd_launcher, launcher_executable}};
  if (program >= 0) wiring.emplace_back(fd_program, program);
  if (plan.launch.channel) {
    name_channel(channel);
    wiring.emplace_back(fd_channel, channel);
  }
  for (const auto& [fd, content] : contents) wiring.emplace_back(fd, content.get());

  const ChildSide child{.wiring = &wiring, .role = plan.role.c_str(), .run = plan.name.c_str()};
  int pidfd = -1;
  const pid_t pid = TRY(start_child(child, cgroup_directory, &pidfd));
  SpawnedRun run = TRY(streams.ours());
  run.launcher = pid;
  run.launcher_pidfd = Fd(pidfd);
  return run;
}

}  // namespace paddock::kernel
