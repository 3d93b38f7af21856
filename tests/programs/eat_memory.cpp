// eat_memory: takes memory and uses it until it gets no more; prints the MiB that it got. Stops by
// itself at 256.

#include <sys/mman.h>

#include <cstdio>
#include <cstring>

int main() {
  constexpr std::size_t mib = 1u << 20;
  int got = 0;
  while (got < 256) {
    void* block = ::mmap(nullptr, mib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) break;
    std::memset(block, 1, mib);
    ++got;
  }
  std::printf("%d\n", got);
}
