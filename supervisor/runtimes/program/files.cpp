#include "supervisor/runtimes/program/files.hpp"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/runtimes/step_wire.hpp"

namespace paddock::step {
namespace {

enum class Missing { make, fail };

struct Parent {
  int directory = -1;  // to be closed
  const char* last = nullptr;
};

// The directory that the last part of `name` is in.
Parent open_parent(const char* name, Missing missing) {
  int directory = ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const char* rest = name;
  while (directory >= 0) {
    const char* slash = ::strchr(rest, '/');
    if (slash == nullptr) return {directory, rest};
    char part[supervisor::step_name_bytes_max + 1];
    const auto length = static_cast<size_t>(slash - rest);
    if (length >= sizeof part) {
      ::close(directory);
      errno = ENAMETOOLONG;
      return {};
    }
    ::memcpy(part, rest, length);
    part[length] = '\0';
    if (missing == Missing::make) ::mkdirat(directory, part, 0755);  // it may be there
    const int next = ::openat(directory, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int error = errno;
    ::close(directory);
    errno = error;
    directory = next;
    rest = slash + 1;
  }
  return {};
}

int open_below(const char* name, Missing missing, int flags) {
  const Parent parent = open_parent(name, missing);
  if (parent.directory < 0) return -1;
  const int fd = ::openat(parent.directory, parent.last, flags | O_NOFOLLOW | O_CLOEXEC, 0755);
  const int error = errno;
  ::close(parent.directory);
  errno = error;
  return fd;
}

}  // namespace

int create_file(const char* name) {
  return open_below(name, Missing::make, O_WRONLY | O_CREAT | O_TRUNC);
}

int open_file(const char* name) {
  // O_NONBLOCK: opening a FIFO must not wait for its other end.
  const int fd = open_below(name, Missing::fail, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return -1;
  struct stat status;
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) return fd;
  ::close(fd);
  errno = EINVAL;
  return -1;
}

}  // namespace paddock::step
