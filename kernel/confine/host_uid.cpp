#include "kernel/confine/host_uid.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

namespace paddock::kernel {
namespace {

// Where the search begins: the next after the last in this process, and anywhere in a new one.
uid_t next_offset(const HostUidRange& range) {
  static uid_t turn = static_cast<uid_t>(::getpid());
  return turn++ % range.count;
}

Result<Fd> open_lock(uid_t uid, const std::string& lock_directory) {
  if (::mkdir(lock_directory.c_str(), 0700) != 0 && errno != EEXIST)
    return fail_errno("make '" + lock_directory + "'");
  const std::string path = lock_directory + "/" + std::to_string(uid);
  Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return fail_errno("open '" + path + "'");
  return lock;
}

// True if it was taken, false if somebody else has it.
Result<bool> try_lock(const Fd& lock, int kind) {
  if (::flock(lock.get(), kind | LOCK_NB) == 0) return true;
  if (errno != EWOULDBLOCK) return fail_errno("lock a host uid");
  return false;
}

// The lock file of a uid that is kept holds the directory that it is kept for.
bool is_kept(const Fd& lock, uid_t uid) {
  char path[PATH_MAX] = {};
  if (::pread(lock.get(), path, sizeof path - 1, 0) <= 0) return false;
  struct stat info {};
  return ::lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == uid;
}

}  // namespace

Result<HostUidLease> HostUidLease::take(const HostUidRange& range,
                                        const std::string& lock_directory) {
  for (uid_t tried = 0; tried < range.count; ++tried) {
    const uid_t uid = range.first + next_offset(range);
    Fd lock = TRY(open_lock(uid, lock_directory));
    if (TRY(try_lock(lock, LOCK_EX)) && !is_kept(lock, uid))
      return HostUidLease(uid, std::move(lock));
  }
  return fail(ErrorCode::too_busy,
              "all " + std::to_string(range.count) + " host uids for runs are in use");
}

// Said, and not left to close: the child of a run that is just starting has a copy of the
// descriptor until its execve, and would keep the uid taken for that long.
HostUidLease::~HostUidLease() {
  if (lock_) ::flock(lock_.get(), LOCK_UN);
}

Result<HostUidLease> HostUidLease::take_this(uid_t uid, const std::string& lock_directory) {
  Fd lock = TRY(open_lock(uid, lock_directory));
  if (TRY(try_lock(lock, LOCK_EX))) return HostUidLease(uid, std::move(lock));
  return fail(ErrorCode::too_busy, "host uid " + std::to_string(uid) + " belongs to a run");
}

Result<void> HostUidLease::keep_for(const std::string& directory) {
  if (::ftruncate(lock_.get(), 0) != 0 || ::pwrite(lock_.get(), directory.data(), directory.size(),
                                                   0) != static_cast<ssize_t>(directory.size()))
    return fail_errno("keep a host uid for '" + directory + "'");
  if (::flock(lock_.get(), LOCK_SH | LOCK_NB) != 0) return fail_errno("share a host uid");
  return {};
}

Result<HostUidLease> HostUidLease::share(uid_t uid, const std::string& lock_directory) {
  Fd lock = TRY(open_lock(uid, lock_directory));
  if (TRY(try_lock(lock, LOCK_SH))) return HostUidLease(uid, std::move(lock));
  return fail(ErrorCode::too_busy,
              "host uid " + std::to_string(uid) + " belongs to another run at the moment");
}

}  // namespace paddock::kernel
