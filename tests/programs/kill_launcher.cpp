// kill_launcher SIGNAL MARK: leaves a child in a session of its own, then signals its own parent,
// which is paddock-launch, and waits; if it may not, it ends with 3.

#include <unistd.h>

#include <csignal>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    const pid_t grandchild = ::fork();
    if (grandchild >= 0) {
      for (;;) ::pause();
    }
  }
  ::usleep(50'000);
  if (::kill(::getppid(), std::atoi(argv[1])) != 0) return 3;
  for (;;) ::pause();
}
