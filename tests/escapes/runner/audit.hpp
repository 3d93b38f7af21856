#pragma once
// Leak audit: what a run may not leave behind, compared before and after.

#include <sys/types.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "kernel/run/sandbox.hpp"

namespace paddock::escapes {

struct HostState {
  std::vector<pid_t> children;  // of this process, helpers excepted; zombies too
  std::string mounts;
  std::size_t descriptors = 0;
  std::set<std::string> cgroups;  // leaves below the base
  std::set<std::string> files;    // workspaces, and attempts' files in shared directories
  std::size_t keys = 0;           // that attempts have made
};

HostState look_at_host(const std::string& cgroup_base, const std::string& run_prefix,
                       const std::string& workspaces, const std::function<bool(pid_t)>& is_helper);

// What is in `after` and not in `before`, by name: "process 12, file /tmp/x". Pure.
std::string leaks(const HostState& before, const HostState& after);

// So that one attempt's leak is not counted for the next.
void remove_leaked_cgroups(const HostState& before, const HostState& after);

// Processes whose program is the stage's.
std::vector<pid_t> processes_of(const std::string& attempt,
                                const std::function<bool(pid_t)>& is_helper);

}  // namespace paddock::escapes
