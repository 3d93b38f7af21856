#include "kernel/launch/init.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "kernel/base/process_walk.hpp"
#include "kernel/launch/agent.hpp"
#include "kernel/launch/control.hpp"
#include "kernel/launch/process_state.hpp"
#include "kernel/launch/socket_watch.hpp"
#include "kernel/launch/survivors.hpp"
#include "kernel/launch/user_namespace.hpp"

namespace paddock::launch {
namespace {

using kernel::ControlKind;
using kernel::ControlMessage;

class Init {
 public:
  Init() : signals_(open_signal_descriptor()) {}

  // As fork: in the agent's process, when its gate is open, a descriptor for what execve says; in
  // this one -1.
  int start_agent(const kernel::SpecView& spec) {
    int gate[2];
    int exec_error[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, gate) != 0)
      die("socketpair", errno);
    if (::pipe2(exec_error, O_CLOEXEC) != 0) die("pipe2", errno);
    agent_ = ::fork();
    if (agent_ < 0) die("fork", errno);
    if (agent_ == 0) {
      ::close(gate[1]);
      ::close(exec_error[0]);
      ::close(signals_);
      confine_agent(spec, gate[0]);
      return exec_error[1];
    }
    ::close(gate[0]);
    ::close(exec_error[1]);
    gate_ = gate[1];
    exec_error_ = exec_error[0];
    if (spec.watch_sockets) sockets_ = receive_listener(gate_);
    // The other end shall see when the program and what it started have closed theirs.
    if (spec.channel) ::close(kernel::fd_channel);
    release_standard_streams();
    return -1;
  }

  void run() {
    while (!over_) {
      // poll leaves out what is negative.
      pollfd watched[] = {{signals_, POLLIN, 0},
                          {kernel::fd_control, POLLIN, 0},
                          {exec_error_, POLLIN, 0},
                          {sockets_, POLLIN, 0}};
      if (::poll(watched, sizeof watched / sizeof *watched, -1) < 0 && errno != EINTR)
        die("poll", errno);
      if (exec_error_ >= 0 && watched[2].revents != 0) read_exec_result();
      if (sockets_ >= 0 && watched[3].revents != 0) watch_sockets_go_on(watched[3].revents);
      if (watched[1].revents != 0) read_control();
      if (watched[0].revents != 0) read_signals();
    }
    kill_and_reap_all(asked_for_socket_);
  }

 private:
  // Hang-up: nobody is left under the filter that asks.
  void watch_sockets_go_on(short events) {
    if ((events & POLLIN) == 0) {
      ::close(sockets_);
      sockets_ = -1;
      return;
    }
    asked_for_socket_ = true;
    let_socket_go_on(sockets_);
  }

  // End of file: the pipe closed, on exec or by the zygote's fork, so the program runs.
  void read_exec_result() {
    int error = 0;
    const ssize_t count = ::read(exec_error_, &error, sizeof error);
    if (count < 0 && errno == EINTR) return;
    ::close(exec_error_);
    exec_error_ = -1;
    if (count == sizeof error) {
      exec_failed_ = true;
      ControlMessage message{.kind = ControlKind::exec_failed, .error = error};
      ::strncpy(message.text, "execute the program", sizeof message.text - 1);
      send(message);
    } else if (gate_opened_) {
      send({.kind = ControlKind::agent_started});
    } else if (agent_goes_on()) {
      die("wait at the gate", EPROTO);
    }
  }

  // A process that ends closes its descriptors before it can be seen to have ended.
  bool agent_goes_on() const {
    constexpr int looks = 100;
    for (int look = 0; look < looks; ++look) {
      siginfo_t info{};
      if (::waitid(P_PID, static_cast<id_t>(agent_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
          info.si_pid != 0)
        return false;
      const timespec millisecond{0, 1'000'000};
      ::nanosleep(&millisecond, nullptr);
    }
    return true;
  }

  void read_control() {
    ControlMessage message;
    const ssize_t count = ::recv(kernel::fd_control, &message, sizeof message, MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count != sizeof message) {  // the supervisor is gone
      over_ = true;
      return;
    }
    switch (message.kind) {
      case ControlKind::open_gate: {
        gate_opened_ = true;
        const char byte = 1;
        [[maybe_unused]] const ssize_t ignored = ::write(gate_, &byte, 1);
        return;
      }
      case ControlKind::terminate:
        // The agent's own group, and only it: bwrap must not get this signal, it would kill the
        // agent without grace.
        ::kill(-agent_, SIGTERM);
        return;
      case ControlKind::kill:
        ::kill(agent_, SIGKILL);
        return;
      case ControlKind::agent_ready:
      case ControlKind::agent_started:
      case ControlKind::exec_failed:
      case ControlKind::setup_failed:
      case ControlKind::agent_exited:
      case ControlKind::wrapper_exited:
      case ControlKind::all_gone:
      case ControlKind::init_born:
        return;  // ours to send
    }
  }

  void read_signals() {
    if (kill_was_ordered(signals_)) over_ = true;
    reap();
  }

  // Reaps the agent and every orphan that came to us. Stops at the agent: what is left then is
  // killed before it is reaped.
  void reap() {
    note_own_cpu_of_agent();
    for (;;) {
      siginfo_t info{};
      if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG) != 0 || info.si_pid == 0) return;
      if (stopped_for_us(info) || info.si_pid != agent_) continue;
      if (exec_error_ >= 0) read_exec_result();  // its message, if any, is older than its death
      report(info);
      over_ = true;
      return;
    }
  }

  // A program that asks to be traced (PTRACE_TRACEME) makes this process its tracer, and its stops
  // come here as if they were ends. It is let go, with the signal that it stopped for.
  static bool stopped_for_us(const siginfo_t& info) {
    if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) return false;
    const int signal = info.si_status == SIGTRAP ? 0 : info.si_status;
    ::ptrace(PTRACE_DETACH, info.si_pid, nullptr, signal);
    return true;
  }

  // The kernel has the agent's own share only until it is reaped; then it is summed up with that of
  // its children.
  void note_own_cpu_of_agent() {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(agent_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == agent_)
      own_cpu_us_ = kernel::own_cpu_us(agent_);
  }

  void report(const siginfo_t& info) {
    if (exec_failed_) return;  // the supervisor knows; the 127 is ours, not the program's
    const bool exited = info.si_code == CLD_EXITED;
    ControlMessage message{.kind = ControlKind::agent_exited,
                           .exited = exited ? info.si_status : -1,
                           .signal = exited ? 0 : info.si_status};
    add_usage(message);
    message.own_cpu_us = own_cpu_us_;
    send(message);
  }

  int signals_;
  pid_t agent_ = -1;
  uint64_t own_cpu_us_ = 0;
  int gate_ = -1;
  int exec_error_ = -1;
  int sockets_ = -1;  // the listener of watch_sockets
  bool asked_for_socket_ = false;
  bool gate_opened_ = false;
  bool exec_failed_ = false;
  bool over_ = false;
};

}  // namespace

int run_init(const kernel::SpecView& spec) {
  // The spec was the last of the supervisor's descriptors that is needed here. A channel and a
  // program that came as one stay for the agent's process.
  const int first_kept = spec.channel ? kernel::fd_channel : kernel::fd_program;
  ::syscall(SYS_close_range, static_cast<unsigned>(kernel::fd_spec),
            static_cast<unsigned>(first_kept - 1), 0u);
  ::syscall(SYS_close_range, static_cast<unsigned>(kernel::fd_program + 1), ~0u, 0u);
  if (spec.own_user_namespace) enter_own_user_namespace();
  become_unreadable();
  Init init;
  const int exec_error = init.start_agent(spec);
  if (exec_error < 0) init.run();
  return exec_error;
}

}  // namespace paddock::launch
