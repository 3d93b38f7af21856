#include "kernel/base/executable.hpp"

#include <unistd.h>

#include <climits>

namespace paddock::kernel {

std::string executable_directory() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0) return ".";
  const std::string executable(path, static_cast<std::size_t>(size));
  return executable.substr(0, executable.rfind('/'));
}

}  // namespace paddock::kernel
