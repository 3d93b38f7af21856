#include "supervisor/http/peer_namespace.hpp"

#include <unistd.h>

#include <climits>
#include <string>

namespace paddock::supervisor {
namespace {

std::string user_namespace_of(const std::string& process) {
  char link[PATH_MAX];
  const ssize_t size = ::readlink(("/proc/" + process + "/ns/user").c_str(), link, sizeof link);
  return size < 0 ? std::string() : std::string(link, static_cast<std::size_t>(size));
}

}  // namespace

bool shares_user_namespace(pid_t pid, uid_t uid) {
  const std::string theirs = user_namespace_of(std::to_string(pid));
  if (theirs.empty()) return uid == 0 && ::geteuid() != 0;
  return theirs == user_namespace_of("self");
}

}  // namespace paddock::supervisor
