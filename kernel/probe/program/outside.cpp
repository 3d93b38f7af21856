#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/probe/program/attempt.hpp"
#include "kernel/probe/program/main.hpp"

namespace paddock::probe {
namespace {

// True if one of the process's words is `mark`.
bool has_mark(const char* pid, const char* mark) {
  char path[64];
  ::snprintf(path, sizeof path, "/proc/%.20s/cmdline", pid);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[1024];
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (size <= 0) return false;
  text[size] = '\0';
  for (const char* word = text; word < text + size; word += ::strlen(word) + 1)
    if (::strcmp(word, mark) == 0) return true;
  return false;
}

// This program has the halves as two words, so that it does not find itself.
void join(char** halves, char* mark, size_t size) {
  ::snprintf(mark, size, "%s%s", halves[0], halves[1]);
}

}  // namespace

Attempted read_init_environment(char**) {
  char path[64];
  ::snprintf(path, sizeof path, "/proc/%d/environ", static_cast<int>(init_pid()));
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return was_refused();
  char byte = 0;
  const Attempted attempted = result_of(::read(fd, &byte, 1));
  ::close(fd);
  return attempted;
}

Attempted trace_init(char**) {
  if (::ptrace(PTRACE_SEIZE, init_pid(), nullptr, nullptr) != 0) return was_refused();
  ::ptrace(PTRACE_DETACH, init_pid(), nullptr, nullptr);
  return it_worked;
}

Attempted find_process(char** words) {
  char mark[256];
  join(words + 1, mark, sizeof mark);
  DIR* const proc = ::opendir("/proc");
  if (proc == nullptr) return was_refused();
  bool found = false;
  while (const dirent* entry = ::readdir(proc))
    if (::atoi(entry->d_name) > 0 && has_mark(entry->d_name, mark)) found = true;
  ::closedir(proc);
  if (found) return it_worked;
  errno = ESRCH;
  return was_refused();
}

// Signal 0: the permission is asked for, and nothing is sent. The mark tells whether the number
// means the same process here: in a PID namespace it may be another's, or nobody's.
Attempted signal_process(char** words) {
  char mark[256];
  join(words + 2, mark, sizeof mark);
  if (!has_mark(words[1], mark)) {
    errno = ESRCH;
    return was_refused();
  }
  return result_of(::kill(static_cast<pid_t>(number(words[1])), 0));
}

// A process in a session of its own, the child of nobody in this run but its init, that does not
// end when it is asked to.
Attempted leave_process(char** words) {
  char mark[256];
  join(words + 1, mark, sizeof mark);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return cannot_try("no pipe");
  const pid_t child = ::fork();
  if (child < 0) return cannot_try("no process can be started");
  if (child == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    ::signal(SIGTERM, SIG_IGN);
    ::signal(SIGHUP, SIG_IGN);
    char program[] = "paddock-probe";
    char role[] = "linger";
    char* argv[] = {program, role, mark, nullptr};
    ::execv("/proc/self/exe", argv);
    [[maybe_unused]] const ssize_t ignored = ::write(ends[1], "x", 1);
    ::_exit(1);
  }
  ::close(ends[1]);
  ::waitpid(child, nullptr, 0);
  char byte = 0;
  const ssize_t count = ::read(ends[0], &byte, 1);  // at its execve the other end is closed
  ::close(ends[0]);
  return count == 0 ? it_worked : cannot_try("no program can be executed");
}

}  // namespace paddock::probe
