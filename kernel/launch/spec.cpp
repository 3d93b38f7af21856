#include "kernel/launch/spec.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <errno.h>
#include <stdlib.h>

#include "kernel/launch/control.hpp"

namespace paddock::launch {
namespace {

struct Bytes {
  char* data = nullptr;
  size_t size = 0;
};

// Read with an offset: the guard and the init inside share one file position.
Bytes read_spec_bytes() {
  struct stat info {};
  if (::fstat(kernel::fd_spec, &info) != 0) die("look at the launch spec", errno);
  Bytes bytes{nullptr, static_cast<size_t>(info.st_size)};
  bytes.data = static_cast<char*>(::malloc(bytes.size + 1));
  if (bytes.data == nullptr) die("make room for the launch spec", ENOMEM);
  for (size_t done = 0; done < bytes.size;) {
    const ssize_t count =
        ::pread(kernel::fd_spec, bytes.data + done, bytes.size - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) die("read the launch spec", count < 0 ? errno : EIO);
    done += static_cast<size_t>(count);
  }
  return bytes;
}

}  // namespace

void read_spec(kernel::SpecView& spec) {
  const Bytes bytes = read_spec_bytes();
  if (!kernel::parse_spec(bytes.data, bytes.size, spec)) die("parse the launch spec", EINVAL);
}

}  // namespace paddock::launch
