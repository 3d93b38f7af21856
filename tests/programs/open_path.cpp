// open_path read|write|create PATH: tries that.

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "programs/answer.hpp"

int main(int argc, char** argv) {
  const std::string how = argc == 3 ? argv[1] : "";
  if (how == "read") {
    char byte = 0;
    const int fd = ::open(argv[2], O_RDONLY);
    return answer(fd >= 0 && ::read(fd, &byte, 1) >= 0);
  }
  if (how == "write") return answer(::open(argv[2], O_WRONLY) >= 0);
  if (how == "create") return answer(::open(argv[2], O_WRONLY | O_CREAT | O_EXCL, 0600) >= 0);
  return 2;
}
