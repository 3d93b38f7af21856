// fork_bomb MARK: every process forks as often as it can, for ever. MARK makes it easy to find.
//
// In case that the limit under test does not hold, the bomb ends by itself: after 20 seconds, and
// it never makes more than 20,000 processes.

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

int main() {
  void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 1;
  auto* forks = new (page) std::atomic<int>(0);
  ::alarm(20);
  while (*forks < 20'000) {
    const pid_t pid = ::fork();
    if (pid == 0) ::alarm(20);
    if (pid > 0) ++*forks;
  }
}
