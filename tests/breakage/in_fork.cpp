// Linked into the breakable paddock-warm.so, with in_launcher.cpp: what a zygote's fork does less
// of.

#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include <string.h>

#include "breakage/wrapped.hpp"
#include "kernel/launch/socket_watch.hpp"

namespace paddock::breakage {

WRAPPED(void, close_user_namespaces, "_ZN7paddock6launch21close_user_namespacesEv");
void wrapped_close_user_namespaces() {
  if (!broken("disable_userns")) real_close_user_namespaces();
}

// Of clone3: what is left out.
uint64_t flags_left_out() {
  if (broken("namespace_ipc")) return CLONE_NEWIPC;
  if (broken("namespace_uts")) return CLONE_NEWUTS;
  if (broken("namespace_pid")) return CLONE_NEWPID;
  if (broken("namespace_mnt")) return CLONE_NEWNS;
  if (broken("namespace_user")) return CLONE_NEWUSER;
  return 0;
}

}  // namespace paddock::breakage

using paddock::breakage::broken;

extern "C" {

int __real_unshare(int flags);
int __wrap_unshare(int flags) {
  return flags == CLONE_NEWCGROUP && broken("namespace_cgroup") ? 0 : __real_unshare(flags);
}

int __real_mount(const char* source, const char* target, const char* type, unsigned long flags,
                 const void* options);
int __wrap_mount(const char* source, const char* target, const char* type, unsigned long flags,
                 const void* options) {
  if (::strcmp(target, "/proc") == 0 && broken("fresh_proc")) return 0;
  return __real_mount(source, target, type, flags, options);
}

}  // extern "C"
