#pragma once
// The cgroup below which a supervisor makes the leaves of its runs: one that an operator named.
// cgroup_search.hpp finds one where nobody did.

#include <string>
#include <vector>

#include "kernel/base/error.hpp"

namespace paddock::kernel {

struct CgroupBase {
  std::string path;
  std::vector<std::string> controllers{};   // enabled for the leaves: of memory, pids, cpu
  std::string proc_path{};                  // what /proc/PID/cgroup calls it, seen from here
  std::vector<std::string> absent_knobs{};  // files of leaves that this kernel does not have
  std::string problem{};  // why a controller is missing, and what helps; empty: none is

  bool operator==(const CgroupBase&) const = default;
};

// Prepares the base at `path`, an absolute path without links. Makes it if its parent is a cgroup2
// directory, and enables those of memory, pids and cpu that its parent lets it have. Without any of
// them it is still of use: as the run's identity. Fails with sandbox_not_available, with the cause
// and what helps, if it is no cgroup2 directory, is not this process's to use, or holds processes
// that keep its controllers from being enabled.
Result<CgroupBase> prepare_cgroup_base(const std::string& path);

// ---- Shared with the search --------------------------------------------------------------------

constexpr const char* how_to_be_delegated =
    "start paddock under `systemd-run --user --scope -p Delegate=yes`, or name a cgroup that is "
    "delegated to this user with --cgroup-base";

// Why no leaves can be made in the cgroup2 directory `path`, as the end of a sentence that begins
// with its name; empty: they can be.
std::string unusable_because(const std::string& path);

// Enables what it can for the children of `base.path` and fills in all but the paths. Returns EBUSY
// if processes in it are in the way, else 0.
int enable_controllers(CgroupBase& base);

}  // namespace paddock::kernel
