// fill_file PATH [ignore-xfsz]: writes to a file until that fails; prints the bytes written and the
// errno. Stops by itself at 1 GiB.

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include <cerrno>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (argc > 2) std::signal(SIGXFSZ, SIG_IGN);
  const int fd = ::open(argv[1], O_WRONLY | O_CREAT | O_EXCL, 0600);
  static char block[64 * 1024];
  std::memset(block, 'x', sizeof block);
  long long written = 0;
  ssize_t count = fd;
  while (count >= 0 && written < (1LL << 30)) {
    count = ::write(fd, block, sizeof block);
    if (count > 0) written += count;
  }
  std::printf("%lld %s\n", written, ::strerrorname_np(count < 0 ? errno : 0));
}
