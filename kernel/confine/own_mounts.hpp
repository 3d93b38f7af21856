#pragma once
// The mounts of this process itself.

#include <vector>

#include "kernel/base/error.hpp"
#include "kernel/confine/mounts.hpp"

namespace paddock::kernel {

// As the kernel lists them now. They are read anew only if the kernel says that they have changed,
// if this thread has another mount namespace than before, or after a second. Fails with io.
Result<std::vector<Mount>> own_mounts();

}  // namespace paddock::kernel
