#include "supervisor/config/private_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "kernel/base/fd.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

constexpr mode_t pass_through = 0011;
constexpr mode_t enter_and_list = 0050;

// With a slash at its end lstat would look at what a link leads to.
std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// Makes it if it is not there, with its parents. Fails unless it is a directory of ours.
Result<struct stat> make_directory(const std::string& path) {
  if (path.empty() || path.front() != '/')
    return fail(ErrorCode::invalid_request, "directory '" + path + "' is not an absolute path");
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
  return info;
}

Result<void> check_closed(const std::string& path, const struct stat& info, mode_t except) {
  if ((info.st_mode & 077 & ~except) == 0) return {};
  return fail(ErrorCode::io, "directory '" + path + "' can be entered by others; chmod 700 it");
}

}  // namespace

Result<void> ensure_private_directory(const std::string& path_as_written) {
  const std::string path = without_slash(path_as_written);
  return check_closed(path, TRY(make_directory(path)), 0);
}

Result<void> ensure_runtime_directory(const std::string& path_as_written,
                                      std::optional<gid_t> group) {
  const std::string path = without_slash(path_as_written);
  const struct stat info = TRY(make_directory(path));
  TRY_VOID(check_closed(path, info, enter_and_list));
  return open_directory_to(path, group);
}

Result<void> ensure_state_directory(const std::string& path_as_written) {
  const std::string path = without_slash(path_as_written);
  const struct stat info = TRY(make_directory(path));
  const mode_t others = ::geteuid() == 0 ? pass_through : 0;
  TRY_VOID(check_closed(path, info, others));
  if ((info.st_mode & 077) != others && ::chmod(path.c_str(), 0700 | others) != 0)
    return kernel::fail_errno("chmod '" + path + "'");
  return {};
}

Result<void> open_directory_to(const std::string& path, std::optional<gid_t> group) {
  const kernel::Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return kernel::fail_errno("open directory '" + path + "'");
  // Closed first: nobody of the former group gets in between.
  if (::fchmod(fd.get(), 0700) != 0) return kernel::fail_errno("chmod '" + path + "'");
  if (!group) return {};
  if (::fchown(fd.get(), static_cast<uid_t>(-1), *group) != 0)
    return kernel::fail_errno("give directory '" + path + "' to gid " + std::to_string(*group));
  if (::fchmod(fd.get(), 0750) != 0) return kernel::fail_errno("chmod '" + path + "'");
  return {};
}

}  // namespace paddock::supervisor
