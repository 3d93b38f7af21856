#include "supervisor/recovery/sockets.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "kernel/base/fd.hpp"

namespace paddock::supervisor {
namespace {

constexpr std::size_t proc_net_unix_bytes_max = 64u << 20;

}  // namespace

bool is_bound(std::string_view proc_net_unix, std::string_view path) {
  // The path is the last column, and may hold anything but a newline.
  while (!proc_net_unix.empty()) {
    const std::string_view line = proc_net_unix.substr(0, proc_net_unix.find('\n'));
    proc_net_unix.remove_prefix(std::min(line.size() + 1, proc_net_unix.size()));
    if (line.size() > path.size() && line.ends_with(path) &&
        line[line.size() - path.size() - 1] == ' ')
      return true;
  }
  return false;
}

bool remove_stale_socket(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return false;
  const auto sockets = kernel::read_file("/proc/net/unix", proc_net_unix_bytes_max);
  if (!sockets || is_bound(*sockets, path)) return false;
  return ::unlink(path.c_str()) == 0;
}

}  // namespace paddock::supervisor
