// ignore_term MARK: does not end when asked to.

#include <unistd.h>

#include <csignal>
#include <cstdio>

int main() {
  std::signal(SIGTERM, SIG_IGN);
  std::puts("ready");
  std::fflush(stdout);
  for (;;) ::pause();
}
