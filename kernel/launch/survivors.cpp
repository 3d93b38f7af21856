#include "kernel/launch/survivors.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "kernel/base/process_walk.hpp"
#include "kernel/launch/control.hpp"
#include "kernel/launch/process_state.hpp"

namespace paddock::launch {
namespace {

void nap() {
  const timespec millisecond{0, 1'000'000};
  ::nanosleep(&millisecond, nullptr);
}

void reap_the_dead() {
  siginfo_t info{};
  do {
    info = {};
  } while (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 ? info.si_pid != 0 : errno == EINTR);
}

}  // namespace

void add_usage(kernel::ControlMessage& message) {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto microseconds = [](const timeval& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000 + static_cast<uint64_t>(time.tv_usec);
  };
  message.cpu_user_us = microseconds(usage.ru_utime);
  message.cpu_system_us = microseconds(usage.ru_stime);
  message.max_rss_kib = static_cast<uint64_t>(usage.ru_maxrss);
  constexpr uint64_t block_bytes = 512;  // the unit of ru_oublock, whatever the file system's is
  message.written_bytes = static_cast<uint64_t>(usage.ru_oublock) * block_bytes;
}

// A fork bomb is outrun like this: the dead are not reaped until a pass finds nobody alive, so each
// killed process still fills its place under RLIMIT_NPROC until the bomb has no place left to fork
// into. Only ECHILD ends the loop: a descendant without a living ancestor below us is our child.
void kill_and_reap_all(bool asked_for_socket) {
  const bool init_of_pid_namespace = ::getpid() == 1;
  while (has_children()) {
    if (init_of_pid_namespace) {
      ::kill(-1, SIGKILL);  // everything in the namespace but us
    } else {
      while (kernel::kill_descendants(::getpid()) > 0) nap();
    }
    reap_the_dead();
    if (has_children()) nap();  // somebody is alive: dying, or born since the pass
  }
  kernel::ControlMessage message{.kind = kernel::ControlKind::all_gone};
  add_usage(message);
  message.asked_for_socket = asked_for_socket ? 1 : 0;
  send(message);
}

}  // namespace paddock::launch
