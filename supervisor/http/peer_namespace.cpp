#include "supervisor/http/peer_namespace.hpp"

#include <unistd.h>

#include <climits>
#include <string>

#include "kernel/base/fd.hpp"

namespace paddock::supervisor {
namespace {

std::string user_namespace_of(const std::string& process) {
  char link[PATH_MAX];
  const ssize_t size = ::readlink(("/proc/" + process + "/ns/user").c_str(), link, sizeof link);
  return size < 0 ? std::string() : std::string(link, static_cast<std::size_t>(size));
}

// The ids of a namespace below ours are a part of ours, so that its map is never the same text. One
// that nothing has been mapped in is empty.
kernel::Result<std::string> uid_map_of(const std::string& process) {
  constexpr std::size_t map_bytes_max = 64 * 1024;
  return kernel::read_file("/proc/" + process + "/uid_map", map_bytes_max);
}

}  // namespace

bool shares_user_namespace(pid_t pid, uid_t uid) {
  const std::string theirs = user_namespace_of(std::to_string(pid));
  if (!theirs.empty()) return theirs == user_namespace_of("self");
  const auto their_map = uid_map_of(std::to_string(pid));
  if (!their_map) return uid == 0 && ::geteuid() != 0;
  return !their_map->empty() && their_map == uid_map_of("self");
}

}  // namespace paddock::supervisor
