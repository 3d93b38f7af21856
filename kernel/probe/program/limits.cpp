#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "kernel/probe/program/attempt.hpp"

namespace paddock::probe {

// Without a permission to use it: address space is what is counted, not memory.
Attempted reserve_memory(char** words) {
  const auto bytes = static_cast<size_t>(number(words[1]));
  void* const memory =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return was_refused();
  ::munmap(memory, bytes);
  return it_worked;
}

Attempted touch_memory(char** words) {
  const auto bytes = static_cast<size_t>(number(words[1]));
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return was_refused();
  ::memset(memory, 1, bytes);
  ::munmap(memory, bytes);
  return it_worked;
}

Attempted fork_often(char** words) {
  constexpr unsigned long long count_max = 256;
  const unsigned long long count = number(words[1]);
  if (count > count_max) return cannot_try("that many processes are not started for a probe");
  pid_t children[count_max];
  size_t started = 0;
  Attempted attempted = it_worked;
  while (started < count) {
    const pid_t pid = ::fork();
    if (pid < 0) {
      attempted = was_refused();
      break;
    }
    if (pid == 0) {
      ::alarm(alarm_seconds);  // an alarm is not inherited
      ::pause();
      ::_exit(0);
    }
    children[started++] = pid;
  }
  for (size_t i = 0; i < started; ++i) ::kill(children[i], SIGKILL);
  for (size_t i = 0; i < started; ++i) ::waitpid(children[i], nullptr, 0);
  return attempted;
}

// What is opened goes with this process.
Attempted open_often(char** words) {
  const unsigned long long count = number(words[1]);
  for (unsigned long long opened = 0; opened < count; ++opened) {
    if (::open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) return was_refused();
  }
  return it_worked;
}

Attempted write_at(char** words) {
  constexpr unsigned close_on_exec = 1;
  const auto fd = static_cast<int>(::syscall(SYS_memfd_create, "paddock-probe", close_on_exec));
  if (fd < 0) return cannot_try("no file in memory can be made");
  ::signal(SIGXFSZ, SIG_IGN);
  const Attempted attempted = result_of(::pwrite(fd, "x", 1, static_cast<off_t>(number(words[1]))));
  ::close(fd);
  return attempted;
}

Attempted wait_long(char** words) {
  ::poll(nullptr, 0, static_cast<int>(number(words[1])));
  return it_worked;
}

}  // namespace paddock::probe
