#include "kernel/confine/host_uid.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

namespace paddock::kernel {
namespace {

// Where the search begins: the next after the last in this process, and anywhere in a new one.
uid_t& next_offset(const HostUidRange& range) {
  static uid_t offset = static_cast<uid_t>(::getpid()) % range.count;
  return offset;
}

}  // namespace

Result<HostUidLease> HostUidLease::take(const HostUidRange& range,
                                        const std::string& lock_directory) {
  if (::mkdir(lock_directory.c_str(), 0700) != 0 && errno != EEXIST)
    return fail_errno("make '" + lock_directory + "'");
  for (uid_t tried = 0; tried < range.count; ++tried) {
    uid_t& offset = next_offset(range);
    const uid_t uid = range.first + offset;
    offset = (offset + 1) % range.count;
    const std::string path = lock_directory + "/" + std::to_string(uid);
    Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock) return fail_errno("open '" + path + "'");
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return HostUidLease(uid, std::move(lock));
    if (errno != EWOULDBLOCK) return fail_errno("lock '" + path + "'");
  }
  return fail(ErrorCode::too_busy,
              "all " + std::to_string(range.count) + " host uids for runs are in use");
}

}  // namespace paddock::kernel
