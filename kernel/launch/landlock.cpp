#include "kernel/launch/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <errno.h>
#include <signal.h>

#include "kernel/launch/control.hpp"

namespace paddock::launch {
namespace {

// The same on every architecture; older C libraries do not name them.
constexpr long landlock_create_ruleset = 444;
constexpr long landlock_add_rule = 445;
constexpr long landlock_restrict_self = 446;

// Of linux/landlock.h.
constexpr int rule_path_beneath = 1;
struct RulesetAttributes {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};
struct __attribute__((packed)) PathBeneath {
  uint64_t allowed_access;
  int32_t parent_fd;
};
// The rights that a rule on a file, not a directory, may have: the kernel refuses any other.
constexpr uint64_t file_rights = 1u << 0 /* execute */ | 1u << 1 /* write */ | 1u << 2 /* read */ |
                                 1u << 14 /* truncate */ | 1u << 15 /* ioctl on devices */;

// A kernel that does not know the later fields refuses the longer struct.
size_t attributes_size(const RulesetAttributes& attributes) {
  return attributes.scoped != 0 ? sizeof attributes : sizeof attributes.handled_access_fs;
}

void allow(int ruleset, const char* path, uint64_t access) {
  const int fd = ::open(path, O_PATH | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0) die("open a path for Landlock", errno);
  if (!S_ISDIR(info.st_mode)) access &= file_rights;
  const PathBeneath rule{access, fd};
  if (access != 0 && ::syscall(landlock_add_rule, ruleset, rule_path_beneath, &rule, 0) != 0)
    die("add a Landlock rule", errno);
  ::close(fd);
}

}  // namespace

void restrict_with_landlock(const kernel::SpecView& spec) {
  if (spec.landlock_handled_file == 0 && spec.landlock_scoped == 0) return;
  const RulesetAttributes attributes{spec.landlock_handled_file, 0, spec.landlock_scoped};
  const int ruleset = static_cast<int>(
      ::syscall(landlock_create_ruleset, &attributes, attributes_size(attributes), 0));
  if (ruleset < 0) die("create a Landlock ruleset", errno);
  for (size_t i = 0; i < spec.landlock_rule_count; ++i)
    allow(ruleset, spec.landlock_paths[i], spec.landlock_access[i]);
  if (::syscall(landlock_restrict_self, ruleset, 0) != 0) die("enter the Landlock domain", errno);
  ::close(ruleset);
}

uint32_t landlock_seen() {
  uint32_t seen = 0;
  // Its own name in /proc: everybody may write that, so that only Landlock can refuse it.
  const int fd = ::open("/proc/self/comm", O_WRONLY | O_CLOEXEC);
  if (fd < 0 && errno == EACCES) seen |= kernel::landlock_seen_file;
  if (fd >= 0) ::close(fd);
  // Signal 0 to the init, which has the same user: only a scope can refuse it.
  if (::kill(::getppid(), 0) != 0 && errno == EPERM) seen |= kernel::landlock_seen_signal;
  return seen;
}

}  // namespace paddock::launch
