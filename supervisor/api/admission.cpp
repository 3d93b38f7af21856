#include "supervisor/api/admission.hpp"

#include <fmt/format.h>

#include "kernel/policy/names.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

constexpr const char* profile_if_none_is_named = "DEFAULT";

template <class T>
Result<const T*> look_up(const std::map<std::string, T>& known, const std::string& name,
                         const char* kind, ErrorCode code) {
  const auto at = known.find(name);
  if (at != known.end()) return &at->second;
  std::vector<std::string> names;
  for (const auto& [known_name, value] : known) names.push_back(known_name);
  return fail(code, fmt::format("no {} '{}'; there is {}", kind, name,
                                names.empty() ? "none" : kernel::quoted_list(names)));
}

}  // namespace

Result<ResolvedRun> admit(const kernel::Request& request, const Caller& caller,
                          const kernel::Catalog& catalog, const kernel::Sandbox& sandbox,
                          const Refusals& refusals) {
  if (!request.tenant.empty() && !caller.sees(request.tenant))
    return fail(ErrorCode::forbidden, fmt::format("tenant '{}' may not ask for tenant '{}'",
                                                  caller.tenant, request.tenant));
  const kernel::AgentTemplate* agent = nullptr;
  std::string profile_name = request.profile.empty() ? profile_if_none_is_named : request.profile;
  if (!request.agent.empty()) {
    std::map<std::string, kernel::AgentTemplate> visible;
    for (const auto& [name, known] : catalog.agents)
      if (caller.sees(known.tenant)) visible.emplace(name, known);
    TRY_VOID(look_up(visible, request.agent, "agent", ErrorCode::unknown_agent)
                 .map([](const kernel::AgentTemplate*) {}));
    agent = &catalog.agents.at(request.agent);
    if (!request.profile.empty() && request.profile != agent->profile)
      return fail(ErrorCode::sandbox_policy_error,
                  fmt::format("agent '{}' runs under profile '{}', not '{}'", agent->name,
                              agent->profile, request.profile));
    profile_name = agent->profile;
  }
  const kernel::Profile* profile =
      TRY(look_up(catalog.profiles, profile_name, "profile", ErrorCode::unknown_profile));

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
