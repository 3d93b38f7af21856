// leave_behind HOW MARK: exits with 0 and leaves processes that would live for ever. They ignore
// SIGTERM and SIGHUP and keep the standard streams open.

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

namespace {

[[noreturn]] void stay() {
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  for (;;) ::pause();
}

void leave_child() {
  if (::fork() == 0) stay();
}

void leave_in_own_session() {
  if (::fork() != 0) return;
  ::setsid();
  stay();
}

// The middle process ends, so that the last one is an orphan at once.
void leave_orphan(bool own_session) {
  const pid_t middle = ::fork();
  if (middle != 0) return;
  if (own_session) ::setsid();
  if (::fork() == 0) stay();
  ::_exit(0);
}

void leave_daemon() {
  if (::fork() != 0) return;
  if (::daemon(0, 0) != 0) ::_exit(1);
  leave_child();
  stay();
}

// Stopped processes do not see SIGTERM at all.
void leave_stopped() {
  if (::fork() != 0) return;
  ::raise(SIGSTOP);
  stay();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc == 3 ? argv[1] : "";
  if (how == "child") {
    leave_child();
  } else if (how == "setsid") {
    leave_in_own_session();
  } else if (how == "double_fork") {
    leave_orphan(false);
  } else if (how == "orphan_in_session") {
    leave_orphan(true);
  } else if (how == "daemon") {
    leave_daemon();
  } else if (how == "stopped") {
    leave_stopped();
  } else {
    return 2;
  }
  ::usleep(50'000);  // until they are what they want to be
  std::puts("left");
}
