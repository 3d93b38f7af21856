#include "kernel/launch/capabilities.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <errno.h>

#include "kernel/launch/control.hpp"

namespace paddock::launch {

// The bounding set can only be dropped with CAP_SETPCAP, which a process has here
// only where a user namespace gave it capabilities; without it no_new_privs keeps the set inert.
void drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) die("capget", errno);
  if ((data[0].effective & (1u << CAP_SETPCAP)) != 0) {
    for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
      if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) die("drop bounding set", errno);
    }
  }
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
    die("clear ambient capabilities", errno);
  data[0] = {};
  data[1] = {};
  if (::syscall(SYS_capset, &header, data) != 0) die("capset", errno);
}

}  // namespace paddock::launch
