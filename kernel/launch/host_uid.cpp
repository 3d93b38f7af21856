#include "kernel/launch/host_uid.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <errno.h>

#include "kernel/launch/control.hpp"

namespace paddock::launch {

void become_host_uid(uint64_t uid) {
  // As root the bounding set can go now; later nobody has the right to drop it.
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0;
       ++capability)
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  if (::syscall(SYS_setgroups, 0, nullptr) != 0) die("setgroups", errno);
  if (::syscall(SYS_setresgid, uid, uid, uid) != 0) die("setresgid", errno);
  if (::syscall(SYS_setresuid, uid, uid, uid) != 0) die("setresuid", errno);
  // The kernel has just taken it away, and what follows needs this process's own files in /proc.
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) die("become readable", errno);
}

}  // namespace paddock::launch
