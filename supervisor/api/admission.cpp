#include "supervisor/api/admission.hpp"

#include <fmt/format.h>

#include "kernel/policy/policy.hpp"
#include "supervisor/api/errors.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

Result<const kernel::AgentTemplate*> look_up_agent(const kernel::Catalog& catalog,
                                                   const Caller& caller, const std::string& name) {
  const auto at = catalog.agents.find(name);
  if (at != catalog.agents.end() && caller.sees(at->second.tenant)) return &at->second;
  return tl::unexpected<kernel::Error>(unknown_agent(catalog, caller, name));
}

Result<const kernel::Profile*> look_up_profile(const kernel::Catalog& catalog,
                                               const std::string& name) {
  const auto at = catalog.profiles.find(name);
  if (at != catalog.profiles.end()) return &at->second;
  return fail(ErrorCode::unknown_profile, unknown_name("profile", name, catalog.profiles));
}

}  // namespace

kernel::Error unknown_agent(const kernel::Catalog& catalog, const Caller& caller,
                            const std::string& name) {
  std::vector<std::string> visible;
  for (const auto& [known, agent] : catalog.agents)
    if (caller.sees(agent.tenant)) visible.push_back(known);
  return {ErrorCode::unknown_agent, unknown_name("agent", name, visible)};
}

Result<ResolvedRun> admit(const kernel::Request& request, const Caller& caller,
                          const kernel::Catalog& catalog, const kernel::Sandbox& sandbox,
                          const kernel::Refusals& refusals) {
  if (!request.tenant.empty() && !caller.sees(request.tenant))
    return fail(ErrorCode::forbidden, fmt::format("tenant '{}' may not ask for tenant '{}'",
                                                  caller.tenant, request.tenant));
  const kernel::AgentTemplate* agent = nullptr;
  if (!request.agent.empty()) agent = TRY(look_up_agent(catalog, caller, request.agent));
  const std::string profile_name =
      kernel::profile_name_of(request.profile, agent != nullptr ? agent->profile : "");
  const kernel::Profile* profile = TRY(look_up_profile(catalog, profile_name));

  if (!caller.may_use(profile_name))
    return fail(ErrorCode::forbidden,
                fmt::format("tenant '{}' may not use profile '{}'", caller.tenant, profile_name));

  ResolvedRun run;
  run.policy = TRY(kernel::resolve(*profile, request, agent));
  TRY_VOID(kernel::check_policy(run.policy));
  run.argv = kernel::command_of(request, agent);
  run.cwd = request.cwd;
  run.agent = request.agent;
  run.tenant = request.tenant.empty() ? caller.tenant : request.tenant;
  run.stdin_bytes = request.stdin_bytes;
  if (const auto refused = refusals.find(profile_name); refused != refusals.end())
    return fail(ErrorCode::sandbox_not_available, refused->second);
  // What this host cannot give is refused now, not after a wait in the queue.
  TRY_VOID(sandbox.preview(run.policy, run.argv, run.cwd).map([](const kernel::Plan&) {}));
  return run;
}

}  // namespace paddock::supervisor
