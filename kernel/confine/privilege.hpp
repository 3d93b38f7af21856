#pragma once
// What a supervisor that was started as root keeps of it.

#include "kernel/base/error.hpp"

namespace paddock::kernel {

// Drops every capability, from the bounding set too, but those that giving runs a host uid of their
// own takes: SETUID, SETGID, SETPCAP (to change ids and drop the run's bounding set), KILL and
// SYS_PTRACE (to end and observe a process of another uid), CHOWN, DAC_OVERRIDE and FOWNER (to give
// away a workspace and to remove it). Does nothing for an ordinary user. Fails with io.
Result<void> keep_only_needed_capabilities();

}  // namespace paddock::kernel
