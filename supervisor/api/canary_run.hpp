#pragma once
// The run by which the daemon sees that it still can: `true`, under STRICT or, where that is
// refused, under the first profile that is not.

#include "supervisor/api/admission.hpp"

namespace paddock::supervisor {

// Fails with sandbox_not_available if every profile is refused, else as admit().
kernel::Result<ResolvedRun> canary_run(const kernel::Catalog& catalog,
                                       const kernel::Sandbox& sandbox, const Refusals& refusals);

}  // namespace paddock::supervisor
