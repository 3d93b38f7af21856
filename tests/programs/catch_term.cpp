// catch_term: waits for SIGTERM, cleans up for a moment, and exits with 7.

#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace {

void clean_up(int) {
  ::usleep(100'000);
  constexpr char done[] = "cleaned up\n";
  [[maybe_unused]] const ssize_t ignored = ::write(1, done, sizeof done - 1);
  ::_exit(7);
}

}  // namespace

int main() {
  std::signal(SIGTERM, clean_up);
  std::puts("ready");
  std::fflush(stdout);
  for (;;) ::pause();
}
