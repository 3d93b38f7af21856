#include "kernel/confine/privilege.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace paddock::kernel {
namespace {

constexpr std::array needed = {CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_FOWNER,  CAP_KILL,
                               CAP_SETGID, CAP_SETUID,       CAP_SETPCAP, CAP_SYS_PTRACE};
static_assert(std::all_of(needed.begin(), needed.end(), [](int c) { return c < 32; }),
              "all of them are in the first word of the capability sets");

}  // namespace

Result<void> keep_only_needed_capabilities() {
  if (::geteuid() != 0) return {};
  std::uint32_t mask = 0;
  for (const int capability : needed) mask |= 1u << capability;
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    const bool kept = std::find(needed.begin(), needed.end(), capability) != needed.end();
    if (!kept && ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0)
      return fail_errno("drop a capability from the bounding set");
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return fail_errno("capget");
  const std::uint32_t permitted = data[0].permitted & mask;  // a container may hold fewer
  data[0] = {.effective = permitted, .permitted = permitted, .inheritable = 0};
  data[1] = {};
  if (::syscall(SYS_capset, &header, data) != 0) return fail_errno("capset");
  return {};
}

}  // namespace paddock::kernel
