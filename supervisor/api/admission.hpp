#pragma once
// From a client's request to a run that only has to be started, or to the reason why not. Nothing
// is allocated and nothing starts.

#include <string>

#include "kernel/policy/load.hpp"
#include "kernel/probe/doctor.hpp"
#include "kernel/run/sandbox.hpp"
#include "supervisor/access/caller.hpp"
#include "supervisor/runs/run_table.hpp"

namespace paddock::supervisor {

// Fails with unknown_profile or unknown_agent, forbidden (a tenant or a profile that is not the
// caller's), sandbox_policy_error, or sandbox_not_available.
//
// allow_degraded does not help against a refusal. It says that a control may be missing, by name
// and on record; a control that is there and does not hold would be on record as if it did.
kernel::Result<ResolvedRun> admit(const kernel::Request& request, const Caller& caller,
                                  const kernel::Catalog& catalog, const kernel::Sandbox& sandbox,
                                  const kernel::Refusals& refusals);

// No agent of that name is there for the caller: what is another's is not named.
kernel::Error unknown_agent(const kernel::Catalog& catalog, const Caller& caller,
                            const std::string& name);

}  // namespace paddock::supervisor
