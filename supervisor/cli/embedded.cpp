#include "supervisor/cli/embedded.hpp"

#include <fmt/format.h>

#include "kernel/confine/privilege.hpp"
#include "kernel/policy/names.hpp"
#include "kernel/run/run_sandboxed.hpp"
#include "supervisor/api/errors.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/cli/request.hpp"
#include "supervisor/cli/terminal.hpp"
#include "supervisor/config/paths.hpp"
#include "supervisor/runtimes/languages.hpp"
#include "supervisor/runtimes/parse_runtime.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

std::vector<std::string> directories(const std::string& kind,
                                     const std::vector<std::string>& added) {
  std::vector<std::string> all = default_catalog_directories(kind);
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

}  // namespace

std::vector<std::string> profile_directories(const GlobalOptions& options) {
  return directories("profiles", options.profiles);
}

std::vector<std::string> agent_directories(const GlobalOptions& options) {
  return directories("agents", options.agents);
}

Result<EmbeddedBackend> EmbeddedBackend::open(const GlobalOptions& options) {
  kernel::LoadResult loaded =
      kernel::load_catalog(profile_directories(options), agent_directories(options));
  for (const kernel::Diagnostic& diagnostic : loaded.diagnostics)
    complain(kernel::to_string(diagnostic));
  if (!loaded.ok())
    return fail(ErrorCode::sandbox_policy_error,
                "the profiles and agents are not valid; nothing was started");
  kernel::Sandbox sandbox =
      TRY(kernel::Sandbox::open({.cgroup_base = options.cgroup_base, .host_uids = {}}));
  TRY_VOID(kernel::keep_only_needed_capabilities());
  return EmbeddedBackend(std::move(loaded.catalog), std::move(sandbox));
}

Result<const kernel::Profile*> EmbeddedBackend::find_profile(const std::string& name) const {
  const auto found = catalog_.profiles.find(name);
  if (found != catalog_.profiles.end()) return &found->second;
  return fail(ErrorCode::unknown_profile, unknown_name("profile", name, catalog_.profiles));
}

Result<const kernel::AgentTemplate*> EmbeddedBackend::find_agent(const std::string& name) const {
  const auto found = catalog_.agents.find(name);
  if (found != catalog_.agents.end()) return &found->second;
  return fail(ErrorCode::unknown_agent, unknown_name("agent", name, catalog_.agents));
}

Result<std::string> EmbeddedBackend::profiles() {
  return profiles_to_json(catalog_.profiles);
}

Result<std::string> EmbeddedBackend::profile(const std::string& name) {
  return profile_to_json(*TRY(find_profile(name)));
}

Result<std::string> EmbeddedBackend::agent(const std::string& name) {
  const kernel::AgentTemplate* const agent = TRY(find_agent(name));
  return agent_to_json({.agent = *agent});
}

Result<std::string> EmbeddedBackend::host() {
  return host_to_json(sandbox_.host(), sandbox_.cgroup().base, sandbox_.cgroup().problem);
}

Result<EmbeddedBackend::Resolved> EmbeddedBackend::resolve(const kernel::Request& request) const {
  TRY_VOID(kernel::check_request(request));
  const kernel::AgentTemplate* agent = nullptr;
  if (!request.agent.empty()) agent = TRY(find_agent(request.agent));
  kernel::Profile profile = *TRY(find_profile(
      kernel::profile_name_of(request.profile, agent != nullptr ? agent->profile : "")));
  grant(profile, request);
  kernel::SandboxPolicy policy = TRY(kernel::resolve(profile, request, agent));
  TRY_VOID(kernel::check_policy(policy));
  return Resolved{std::move(policy), kernel::command_of(request, agent)};
}

Result<std::string> EmbeddedBackend::plan(const kernel::Request& request) {
  const Resolved resolved = TRY(resolve(request));
  return plan_to_json(resolved.policy,
                      TRY(sandbox_.preview(resolved.policy, resolved.command, request.cwd)));
}

Result<std::string> EmbeddedBackend::doctor() {
  std::vector<kernel::Diagnostic> diagnostics;
  const Runtimes runtimes =
      load_runtimes(directories("runtimes", {}), &catalog_.profiles, diagnostics);
  for (const kernel::Diagnostic& diagnostic : diagnostics) complain(kernel::to_string(diagnostic));
  if (!diagnostics.empty())
    return fail(ErrorCode::sandbox_policy_error, "the runtimes are not valid; nothing was tried");
  const auto report = TRY(kernel::examine(sandbox_, catalog_.profiles, kernel::Thoroughness::all));
  std::vector<Language> languages;
  for (const auto& [name, runtime] : runtimes)
    languages.push_back(language_of(runtime, version_of(runtime)));
  return doctor_to_json(report, languages);
}

// As with the daemon, what could not be asked counts as there.
RuntimeVersion EmbeddedBackend::version_of(const Runtime& runtime) const {
  if (runtime.version.empty()) return {};
  kernel::Request request;
  request.profile = runtime.profile.empty() ? kernel::unread_code_profile_name : runtime.profile;
  request.argv = runtime.version;
  auto resolved = resolve(request);
  if (!resolved) return {};
  bound_version_run(resolved->policy);
  auto run = sandbox_.start(resolved->policy, resolved->command, {}, make_run_id(), {});
  if (!run) return {};
  kernel::drive(**run);
  return supervisor::version_of((*run)->take_result());
}

Result<EmbeddedBackend::Started> EmbeddedBackend::start(const kernel::Request& request,
                                                        kernel::RunOptions options) {
  const Resolved resolved = TRY(resolve(request));
  RunRecord record;
  record.id = make_run_id();
  record.phase = RunPhase::running;
  record.profile = resolved.policy.profile;
  record.agent = request.agent;
  record.tenant = request.tenant;
  record.argv = resolved.command;
  record.created_at = std::chrono::system_clock::now();
  record.policy_hash = kernel::policy_hash(resolved.policy);
  auto run = TRY(sandbox_.start(resolved.policy, resolved.command, request.cwd, record.id,
                                std::move(options)));
  return Started{std::move(record), std::move(run)};
}

RunRecord finished_record(RunRecord record, kernel::Run& run) {
  record.phase = RunPhase::finished;
  record.result = run.take_result();
  record.receipt = record.result->receipt;
  record.degraded = record.result->degraded;
  return record;
}

}  // namespace paddock::supervisor::cli
