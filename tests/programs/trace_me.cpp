// trace_me: asks its parent to trace it, gets a signal that is ignored by default, and exits
// with 7.

#include <sys/ptrace.h>

#include <csignal>

int main() {
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return 1;
  ::raise(SIGURG);
  return 7;
}
