#include "supervisor/config/private_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace paddock::supervisor {

using kernel::ErrorCode;
using kernel::fail;

namespace {

constexpr mode_t pass_through = 0011;

kernel::Result<void> ensure_directory(const std::string& path_as_written, mode_t others) {
  std::string path = path_as_written;
  if (path.empty() || path.front() != '/')
    return fail(ErrorCode::invalid_request, "directory '" + path + "' is not an absolute path");
  // With a slash at its end lstat would look at what a link leads to.
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    ::mkdir(path.substr(0, at).c_str(), 0700);  // one that is missing shows in the last step
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return kernel::fail_errno("make directory '" + path + "'");
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return kernel::fail_errno("look at '" + path + "'");
  if (!S_ISDIR(info.st_mode)) return fail(ErrorCode::io, "'" + path + "' is not a directory");
  if (info.st_uid != ::geteuid())
    return fail(ErrorCode::io, "directory '" + path + "' belongs to uid " +
                                   std::to_string(info.st_uid) + ", not to this user");
  if ((info.st_mode & 077 & ~others) != 0)
    return fail(ErrorCode::io, "directory '" + path + "' can be entered by others; chmod 700 it");
  if ((info.st_mode & 077) != others && ::chmod(path.c_str(), 0700 | others) != 0)
    return kernel::fail_errno("chmod '" + path + "'");
  return {};
}

}  // namespace

kernel::Result<void> ensure_private_directory(const std::string& path) {
  return ensure_directory(path, 0);
}

kernel::Result<void> ensure_state_directory(const std::string& path) {
  return ensure_directory(path, ::geteuid() == 0 ? pass_through : 0);
}

}  // namespace paddock::supervisor
