#pragma once
// Asks a zygote for the first process of a warm run.

#include "kernel/run/spawn.hpp"
#include "kernel/warm/zygote.hpp"

namespace paddock::kernel {

// `cgroup_entrance` is -1 or CgroupLeaf::entrance(); `channel` as in spawn(). The launcher of the
// SpawnedRun is not known yet: init_born says it, or the control socket hangs up. Fails with io.
Result<SpawnedRun> spawn_warm(const Plan& plan, const ZygoteLine& zygote, int cgroup_entrance,
                              int channel);

}  // namespace paddock::kernel
