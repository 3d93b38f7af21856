// flood FD MIB: writes that much to the descriptor, in pieces of 64 KiB.

#include <unistd.h>

#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int fd = std::atoi(argv[1]);
  static char block[64 * 1024];
  std::memset(block, 'x', sizeof block);
  for (long left = std::atol(argv[2]) * 16; left > 0; --left) {
    std::size_t done = 0;
    while (done < sizeof block) {
      const ssize_t count = ::write(fd, block + done, sizeof block - done);
      if (count <= 0) return 1;
      done += static_cast<std::size_t>(count);
    }
  }
}
