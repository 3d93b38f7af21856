// count_processes: forks until it is refused, prints how many children it has, keeps them all until
// its standard input ends. Stops by itself at 1000.

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <vector>

int main() {
  std::vector<pid_t> children;
  int refused_with = 0;
  while (children.size() < 1000) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::alarm(60);
      for (;;) ::pause();
    }
    if (pid < 0) {
      refused_with = errno;
      break;
    }
    children.push_back(pid);
  }
  std::printf("%zu %s\n", children.size(), ::strerrorname_np(refused_with));
  std::fflush(stdout);
  char byte = 0;
  while (::read(0, &byte, 1) > 0) {
  }
  for (const pid_t pid : children) ::kill(pid, SIGKILL);
}
