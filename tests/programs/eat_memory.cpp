// eat_memory [keep]: takes memory and uses it until it gets no more; prints the MiB that it got.
// Stops by itself at 256. With "keep" it keeps them until it is ended.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

int main(int argc, char**) {
  constexpr std::size_t mib = 1u << 20;
  int got = 0;
  while (got < 256) {
    void* block = ::mmap(nullptr, mib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) break;
    std::memset(block, 1, mib);
    ++got;
  }
  std::printf("%d\n", got);
  std::fflush(stdout);
  while (argc > 1) ::pause();
}
