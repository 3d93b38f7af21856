#pragma once
// Ending what a killed daemon left of its runs: the acting half of recovery. Everything here
// blocks, and for a few seconds at most.

#include <chrono>
#include <map>

#include "kernel/confine/host_uid.hpp"
#include "supervisor/recovery/decide.hpp"

namespace paddock::supervisor {

struct Reach {
  kernel::HostUidRange host_uids{};  // used by root only
  std::string host_uid_locks = "/run/paddock-uids";
  // For launchers to end their runs by themselves, and then again for what was killed to be gone.
  std::chrono::milliseconds patience{2'000};
};

// Of each run: waits for its launchers, which see that their supervisor is gone; kills what is left
// of the marked processes with all below them, of launchers that name the run, and as root of its
// host uid if no supervisor holds that; and looks whether it is gone. Its cgroup has been swept.
std::map<std::string, Remains> end_what_is_left(const std::vector<LeftRun>& left,
                                                const Reach& reach);

// The zygotes of a daemon with that tag (zygote_tag): no ledger has them, but their launchers name
// them.
std::vector<LeftRun> left_zygotes(const std::string& tag, const Reach& reach);

}  // namespace paddock::supervisor
