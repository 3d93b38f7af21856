#include "kernel/confine/own_mounts.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <optional>

#include "kernel/base/fd.hpp"

namespace paddock::kernel {
namespace {

constexpr const char* mountinfo_path = "/proc/thread-self/mountinfo";
// What the kernel does not tell: a directory above a mount was renamed.
constexpr std::chrono::seconds age_max{1};

struct KnownMounts {
  Fd mountinfo;  // open, so that the kernel says when they change
  dev_t namespace_device = 0;
  ino_t namespace_inode = 0;
  std::chrono::steady_clock::time_point read_at;
  std::vector<Mount> mounts;
};

bool have_changed(const Fd& mountinfo) {
  pollfd entry{.fd = mountinfo.get(), .events = POLLPRI, .revents = 0};
  return ::poll(&entry, 1, /*timeout=*/0) != 0;
}

bool holds(const KnownMounts& known, const struct stat& own_namespace) {
  return known.namespace_device == own_namespace.st_dev &&
         known.namespace_inode == own_namespace.st_ino &&
         std::chrono::steady_clock::now() - known.read_at < age_max &&
         !have_changed(known.mountinfo);
}

}  // namespace

Result<std::vector<Mount>> own_mounts() {
  thread_local std::optional<KnownMounts> known;  // threads can have namespaces of their own
  struct stat own_namespace {};
  if (::stat("/proc/thread-self/ns/mnt", &own_namespace) != 0)
    return fail_errno("look at the own mount namespace");
  if (known && holds(*known, own_namespace)) return known->mounts;
  known.reset();
  // Opened first: what changes while it is read is seen the next time.
  Fd mountinfo(::open(mountinfo_path, O_RDONLY | O_CLOEXEC));
  if (!mountinfo) return fail_errno("open the own mountinfo");
  const std::string text = TRY(read_file(mountinfo_path, mountinfo_bytes_max));
  known = KnownMounts{.mountinfo = std::move(mountinfo),
                      .namespace_device = own_namespace.st_dev,
                      .namespace_inode = own_namespace.st_ino,
                      .read_at = std::chrono::steady_clock::now(),
                      .mounts = parse_mountinfo(text)};
  return known->mounts;
}

}  // namespace paddock::kernel
