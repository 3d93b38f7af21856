#include <fcntl.h>
#include <unistd.h>

#include <errno.h>
#include <stdio.h>

#include "kernel/probe/program/attempt.hpp"

namespace paddock::probe {
namespace {

int open_nameless(const char* directory) {
  return ::open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

}  // namespace

Attempted read_file(char** words) {
  const int fd = ::open(words[1], O_RDONLY | O_CLOEXEC);
  if (fd < 0) return was_refused();
  char byte = 0;
  const Attempted attempted = result_of(::read(fd, &byte, 1));
  ::close(fd);
  return attempted;
}

Attempted make_file(char** words) {
  char path[4096];
  ::snprintf(path, sizeof path, "%s/paddock-probe-%d", words[1], static_cast<int>(::getpid()));
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return was_refused();
  ::close(fd);
  ::unlink(path);
  return it_worked;
}

Attempted make_nameless_file(char** words) {
  const int fd = open_nameless(words[1]);
  if (fd < 0) return was_refused();
  ::close(fd);
  return it_worked;
}

// In pieces, so that a limit on the size of one file does not come first. The files go with this
// process.
Attempted fill_directory(char** words) {
  constexpr unsigned long long piece_bytes = 256 * 1024;
  const unsigned long long bytes = number(words[2]);
  for (unsigned long long filled = 0; filled <= bytes; filled += piece_bytes) {
    const int fd = open_nameless(words[1]);
    if (fd < 0 || ::fallocate(fd, 0, 0, static_cast<off_t>(piece_bytes)) != 0) return was_refused();
  }
  return it_worked;
}

}  // namespace paddock::probe
