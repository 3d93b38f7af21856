#include "kernel/confine/bound_paths.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>

namespace paddock::kernel {
namespace {

// A descriptor that only names the file: opening it takes no right to read.
Fd open_path(int directory, const std::string& path, std::uint64_t resolve) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = resolve;
  return Fd(static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how)));
}

// Empty, with errno, if the path cannot be opened. Fails if the host has no openat2, whatever path
// it is asked for.
Result<Fd> open_source(const std::string& path, std::uint64_t resolve) {
  Fd fd = open_path(AT_FDCWD, path, resolve | RESOLVE_NO_MAGICLINKS);
  if (!fd && (errno == ENOSYS || errno == EPERM)) return fail_needed_call("openat2");
  return fd;
}

bool same_file(const Fd& left, const Fd& right) {
  struct stat l {};
  struct stat r {};
  return ::fstat(left.get(), &l) == 0 && ::fstat(right.get(), &r) == 0 && l.st_dev == r.st_dev &&
         l.st_ino == r.st_ino;
}

}  // namespace

Result<BoundPaths> BoundPaths::open(const std::vector<std::string>& paths,
                                    const std::vector<std::string>& system_paths) {
  BoundPaths bound;
  for (const std::string& path : system_paths) {
    Fd fd = TRY(open_source(path, 0));
    if (!fd) return fail_errno("open '" + path + "'");
    bound.bounds_.push_back({path, std::move(fd)});
  }
  for (const std::string& path : paths) TRY_VOID(bound.add(path, path));
  return bound;
}

Result<void> BoundPaths::add(const std::string& path, const std::string& seen_at) {
  Fd fd = TRY(open_source(path, RESOLVE_NO_SYMLINKS));
  if (!fd)
    return fail(ErrorCode::sandbox_policy_error,
                "bind '" + path + "': " +
                    (errno == ELOOP ? "passes through a symbolic link" : errno_text(errno)));
  bounds_.push_back({seen_at, std::move(fd)});
  return {};
}

std::vector<std::string> BoundPaths::differences(pid_t pid) const {
  std::vector<std::string> found;
  if (bounds_.empty()) return found;
  const std::string root_path = "/proc/" + std::to_string(pid) + "/root";
  const Fd root(::open(root_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const Bound& bound : bounds_) {
    const Fd seen = root ? open_path(root.get(), bound.path, RESOLVE_IN_ROOT) : Fd();
    if (!seen) {
      found.push_back("bind '" + bound.path + "' cannot be seen: " + errno_text(errno));
    } else if (!same_file(bound.fd, seen)) {
      found.push_back("bind '" + bound.path + "' is not the file that was there at the start");
    }
  }
  return found;
}

}  // namespace paddock::kernel
