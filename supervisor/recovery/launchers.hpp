#pragma once
// The launchers of runs among this host's processes, known by their command lines.

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/process_mark.hpp"

namespace paddock::supervisor {

// The run, or the zygote, that a command line (words ended by NULs, as in /proc/PID/cmdline) of
// paddock-launch names; absent: it is none. Pure.
std::optional<std::string> run_of_launcher(std::string_view cmdline);

// The real uid in a /proc/PID/status. Pure.
std::optional<uid_t> real_uid_in(std::string_view status);
std::optional<uid_t> real_uid_of(pid_t pid);

std::vector<pid_t> all_processes();

// Run -> its launchers. Anybody can call a process so: only those of a uid that `is_ours` count.
std::map<std::string, std::vector<kernel::ProcessMark>> launchers_by_run(
    const std::function<bool(uid_t)>& is_ours);

}  // namespace paddock::supervisor
