#pragma once
// Rules to a filter, for the architecture that this is built for: the one user of libseccomp.

#include "kernel/base/error.hpp"
#include "kernel/confine/seccomp_program.hpp"
#include "kernel/confine/seccomp_rules.hpp"

namespace paddock::kernel {

// Not available where there are no rules for the architecture, as on a 32-bit one.
Result<Architecture> native_architecture();

Result<BpfProgram> compile_seccomp(const SeccompRules& rules);

}  // namespace paddock::kernel
