// signal_process PID SIGNAL: tries to send it. PID "parent" is the parent's.

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "programs/answer.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const pid_t pid = std::string(argv[1]) == "parent" ? ::getppid() : std::atoi(argv[1]);
  const int result = answer(::kill(pid, std::atoi(argv[2])) == 0);
  std::fflush(stdout);
  ::usleep(100'000);  // if it has an effect, then before this process ends
  return result;
}
