#include "kernel/launch/fresh_namespaces.hpp"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <errno.h>
#include <string.h>

#include "kernel/launch/capabilities.hpp"
#include "kernel/launch/control.hpp"
#include "kernel/launch/process_state.hpp"
#include "kernel/launch/user_namespace.hpp"

namespace paddock::launch {
namespace {

// "0" is whoever writes it. The leaf then is the root of a cgroup namespace of the run's own.
void enter_cgroup(int procs) {
  if (procs >= 0 && ::write(procs, "0", 1) != 1) die("enter the cgroup", errno);
  if (procs >= 0) ::close(procs);
  if (::unshare(CLONE_NEWCGROUP) != 0) die("create a cgroup namespace", errno);
}

void bring_up_loopback() {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) die("open a socket", errno);
  ifreq request{};
  ::memcpy(request.ifr_name, "lo", sizeof "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (::ioctl(fd, SIOCSIFFLAGS, &request) != 0) die("bring up the loopback", errno);
  ::close(fd);
}

// /dev/null over it, as bubblewrap binds it: nobody can open it.
void cover(const char* file) {
  constexpr long mount_setattr = 442;  // the same on every architecture; older C libraries lack it
  constexpr uint64_t read_only[4] = {MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0, 0,
                                     0};
  if (::mount("/dev/null", file, nullptr, MS_BIND, nullptr) != 0 ||
      ::syscall(mount_setattr, AT_FDCWD, file, 0, read_only, sizeof read_only) != 0)
    die("cover a file of /proc", errno);
}

void mount_fresh(const kernel::MountView& mount) {
  if (::strcmp(mount.type, "cover") == 0) return cover(mount.target);
  // A tmpfs may hold programs, and a terminal is a device; nothing else differs.
  const bool is_tmpfs = ::strcmp(mount.type, "tmpfs") == 0;
  const bool is_devpts = ::strcmp(mount.type, "devpts") == 0;
  unsigned long flags = MS_NOSUID;
  if (!is_tmpfs) flags |= MS_NOEXEC;
  if (!is_devpts) flags |= MS_NODEV;
  if (::mount(mount.type, mount.target, mount.type, flags, mount.options) != 0)
    die(is_tmpfs ? "mount a tmpfs" : is_devpts ? "mount /dev/pts" : "mount /proc", errno);
}

}  // namespace

void furnish_fresh_namespaces(const kernel::SpecView& spec, const ForkedFrom& zygote) {
  // A process that is not dumpable owns none of its files in /proc.
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) die("become readable", errno);
  map_ids_to_themselves(zygote.uid, zygote.gid);
  become_unreadable();
  leave_session_keyring();
  enter_cgroup(zygote.cgroup);
  if (zygote.new_network) bring_up_loopback();
  for (size_t i = 0; i < spec.mount_count; ++i) mount_fresh(spec.mount(i));
  close_user_namespaces();
  drop_capabilities();
}

}  // namespace paddock::launch
