#pragma once
// From a client's request to a run that only has to be started, or to the reason why not. Nothing
// is allocated and nothing starts.

#include "kernel/policy/load.hpp"
#include "kernel/run/sandbox.hpp"
#include "supervisor/runs/run_table.hpp"

namespace paddock::supervisor {

// Fails with unknown_profile or unknown_agent, sandbox_policy_error, or sandbox_not_available.
kernel::Result<ResolvedRun> admit(const kernel::Request& request, const kernel::Catalog& catalog,
                                  const kernel::Sandbox& sandbox);

}  // namespace paddock::supervisor
