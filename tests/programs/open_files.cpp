// open_files: opens files until it is refused; prints how many descriptors it then has and the
// errno. Stops by itself at 5000.

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

int main() {
  int highest = 0;
  int error = 0;
  while (highest < 5000) {
    const int fd = ::open("/dev/null", O_RDONLY);
    if (fd < 0) {
      error = errno;
      break;
    }
    highest = fd;
  }
  std::printf("%d %s\n", highest + 1, ::strerrorname_np(error));
}
