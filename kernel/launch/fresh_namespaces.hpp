#pragma once
// The init of a zygote's fork, before it is one like any other: from the namespaces that clone3 has
// made to a sandbox of its own.

#include <sys/types.h>

#include "kernel/confine/launch_wire.hpp"

namespace paddock::launch {

struct ForkedFrom {
  uid_t uid = 0;  // of the zygote, in its user namespace
  gid_t gid = 0;
  bool new_network = false;
  int cgroup = -1;  // cgroup.procs of the run's leaf, or -1
};

// Ids, cgroup, network, mounts, closed user namespaces, and no capability at the end.
void furnish_fresh_namespaces(const kernel::SpecView& spec, const ForkedFrom& zygote);

}  // namespace paddock::launch
