#include "supervisor/agents/agent_admission.hpp"

#include <fmt/format.h>

namespace paddock::supervisor {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

Result<ResolvedRun> admit_agent(const kernel::AgentTemplate& agent, const kernel::Catalog& catalog,
                                const kernel::Sandbox& sandbox, const kernel::Refusals& refusals,
                                const std::string& workspace) {
  const auto profile = catalog.profiles.find(agent.profile);
  if (profile == catalog.profiles.end())
    return fail(ErrorCode::unknown_profile,
                fmt::format("agent '{}' runs under profile '{}', which there is no more",
                            agent.name, agent.profile));
  if (const auto refused = refusals.find(agent.profile); refused != refusals.end())
    return fail(ErrorCode::sandbox_not_available, refused->second);
  ResolvedRun run;
  run.policy = TRY(kernel::resolve_agent(profile->second, agent));
  run.policy.workspace = workspace;
  TRY_VOID(kernel::check_policy(run.policy));
  run.argv = agent.command;
  run.agent = agent.name;
  run.tenant = agent.tenant;
  run.stdin_open = agent.protocol == kernel::AgentProtocol::jsonl;
  TRY_VOID(sandbox.preview(run.policy, run.argv, "").map([](const kernel::Plan&) {}));
  return run;
}

}  // namespace paddock::supervisor
