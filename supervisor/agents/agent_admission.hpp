#pragma once
// From a template to its long-running run, or to the reason why there is none.

#include <string>

#include "kernel/policy/load.hpp"
#include "kernel/probe/doctor.hpp"
#include "kernel/run/sandbox.hpp"
#include "supervisor/runs/resolved_run.hpp"

namespace paddock::supervisor {

// `workspace` as AgentPlace has it. Fails with unknown_profile, sandbox_policy_error or
// sandbox_not_available.
kernel::Result<ResolvedRun> admit_agent(const kernel::AgentTemplate& agent,
                                        const kernel::Catalog& catalog,
                                        const kernel::Sandbox& sandbox,
                                        const kernel::Refusals& refusals,
                                        const std::string& workspace);

}  // namespace paddock::supervisor
