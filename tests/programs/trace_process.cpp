// trace_process PID: tries to attach as a debugger does. PID "parent" is the parent's.

#include <sys/ptrace.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "programs/answer.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const pid_t pid = std::string(argv[1]) == "parent" ? ::getppid() : std::atoi(argv[1]);
  return answer(::ptrace(PTRACE_ATTACH, pid, nullptr, nullptr) == 0);
}
