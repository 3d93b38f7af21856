// stop_launcher exit|leave-child|keep-stopping MARK: stops its own parent, which is paddock-launch,
// and exits with 0 before that can see it. With a child that lives on, or that stops it again and
// again.

#include <unistd.h>

#include <csignal>
#include <string_view>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view mode = argv[1];
  const pid_t launcher = ::getppid();
  if (mode != "exit" && ::fork() == 0) {
    ::setsid();
    for (int i = 0; i < 100'000 && mode == "keep-stopping"; ++i) {
      if (::kill(launcher, SIGSTOP) != 0) break;
      ::usleep(100);
    }
    for (;;) ::pause();
  }
  ::usleep(50'000);
  ::kill(launcher, SIGSTOP);
  return 0;
}
