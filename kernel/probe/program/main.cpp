// paddock-probe: tries from inside a run, or unconfined, what a run must not be able to do.
//
//   paddock-probe try NAME ARG... -- NAME ARG... ...   one line per attempt: its number, how it
//   went paddock-probe below try ...                        the same with a process of its own
//   above it paddock-probe linger MARK                          stays, to be found or signalled
//
// Each attempt has a process of its own, which may be killed for it or use up its limits. It is
// started by paddock, never by hand; by hand it does no harm.

#include "kernel/probe/program/main.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/probe/program/attempt.hpp"

namespace paddock::probe {
namespace {

constexpr Named attempts[] = {
    {"connect_tcp", 1, connect_tcp},
    {"connect_abstract", 1, connect_abstract},
    {"make_socket", 3, make_socket},
    {"open_keyring", 0, open_keyring},
    {"make_user_namespace", 0, make_user_namespace},
    {"set_up_io_uring", 0, set_up_io_uring},
    {"call_int80", 0, call_int80},
    {"call_x32", 0, call_x32},
    {"read_file", 1, read_file},
    {"make_file", 1, make_file},
    {"make_nameless_file", 1, make_nameless_file},
    {"fill_directory", 2, fill_directory},
    {"reserve_memory", 1, reserve_memory},
    {"touch_memory", 1, touch_memory},
    {"fork_often", 1, fork_often},
    {"open_often", 1, open_often},
    {"write_at", 1, write_at},
    {"wait_long", 1, wait_long},
    {"read_init_environment", 0, read_init_environment},
    {"trace_init", 0, trace_init},
    {"find_process", 2, find_process},
    {"signal_process", 3, signal_process},
    {"leave_process", 2, leave_process},
};

pid_t parent_of_this_program = 0;

void say(size_t index, const char* text) {
  char line[512];
  const int size = ::snprintf(line, sizeof line, "%zu %s\n", index, text);
  [[maybe_unused]] const ssize_t ignored = ::write(1, line, static_cast<size_t>(size));
}

void report(size_t index, const Attempted& attempted) {
  char text[256];
  switch (attempted.kind) {
    case Attempted::done:
      return say(index, "done");
    case Attempted::refused:
      ::snprintf(text, sizeof text, "refused %d", attempted.error);
      return say(index, text);
    case Attempted::cannot:
      ::snprintf(text, sizeof text, "cannot %s", attempted.why);
      return say(index, text);
  }
}

Attempted carry_out(char** words, size_t count) {
  for (const Named& named : attempts)
    if (::strcmp(named.name, words[0]) == 0 && named.arguments + 1 == count)
      return named.attempt(words);
  return cannot_try("it is not known");
}

void try_one(size_t index, char** words, size_t count) {
  const pid_t child = ::fork();
  if (child < 0) return report(index, cannot_try("no process can be started for it"));
  if (child == 0) {
    ::alarm(alarm_seconds);
    report(index, carry_out(words, count));
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFSIGNALED(status)) return;
  char text[64];
  ::snprintf(text, sizeof text, "killed %d", WTERMSIG(status));
  say(index, text);
}

int try_all(char** words) {
  size_t index = 0;
  while (*words != nullptr) {
    size_t count = 0;
    while (words[count] != nullptr && ::strcmp(words[count], "--") != 0) ++count;
    if (count > 0) try_one(index, words, count);
    ++index;
    words += count;
    if (*words != nullptr) ++words;
  }
  return 0;
}

int linger() {
  ::alarm(alarm_seconds);
  for (int fd = 0; fd <= 2; ++fd) ::close(fd);  // nobody shall wait for the end of a pipe
  for (;;) ::pause();
}

// Without a sandbox the starter is the supervisor, which is nobody to try things on.
int stay_above(int argc, char** argv) {
  const pid_t child = ::fork();
  if (child < 0) return 1;
  if (child > 0) {
    ::alarm(alarm_seconds);
    ::waitpid(child, nullptr, 0);
    return 0;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  parent_of_this_program = ::getppid();
  return argc > 2 && ::strcmp(argv[2], "try") == 0 ? try_all(argv + 3) : 1;
}

}  // namespace

pid_t init_pid() {
  return parent_of_this_program;
}

int run(int argc, char** argv) {
  parent_of_this_program = ::getppid();
  const char* const role = argc > 1 ? argv[1] : "";
  if (::strcmp(role, "try") == 0) return try_all(argv + 2);
  if (::strcmp(role, "below") == 0) return stay_above(argc, argv);
  if (::strcmp(role, "linger") == 0) return linger();
  ::fputs("paddock-probe is started by paddock doctor and paddockd, not by hand\n", stderr);
  return 1;
}

}  // namespace paddock::probe

int main(int argc, char** argv) {
  return paddock::probe::run(argc, argv);
}
