// read_stdin: reads all of its standard input; prints how many bytes it was and their sum.

#include <unistd.h>

#include <cstdio>

int main() {
  static unsigned char block[64 * 1024];
  unsigned long long bytes = 0;
  unsigned long long sum = 0;
  ssize_t count = 0;
  while ((count = ::read(0, block, sizeof block)) > 0) {
    bytes += static_cast<unsigned long long>(count);
    for (ssize_t i = 0; i < count; ++i) sum += block[i];
  }
  std::printf("%llu %llu\n", bytes, sum);
}
