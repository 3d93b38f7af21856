// steal_descriptor PID: tries to take the standard input of another process. PID "parent" is the
// parent's.

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "programs/answer.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const pid_t pid = std::string(argv[1]) == "parent" ? ::getppid() : std::atoi(argv[1]);
  const long pidfd = ::syscall(SYS_pidfd_open, pid, 0);
  return answer(pidfd >= 0 && ::syscall(SYS_pidfd_getfd, pidfd, 0, 0) >= 0);
}
