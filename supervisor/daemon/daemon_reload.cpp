// Daemon: profiles, agents, access.toml and the token of TCP, when it starts and at each reload:
// what is in force then, and who has to hear of it.

#include <fmt/format.h>

#include "supervisor/config/paths.hpp"
#include "supervisor/config/private_directory.hpp"
#include "supervisor/daemon/daemon.hpp"
#include "supervisor/http/listener.hpp"
#include "supervisor/telemetry/log.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Result;

// "1 mistake", "2 mistakes"
std::string mistakes(std::size_t number) {
  return fmt::format("{} mistake{}", number, number == 1 ? "" : "s");
}

void log_mistakes(const std::vector<kernel::Diagnostic>& diagnostics) {
  for (const kernel::Diagnostic& diagnostic : diagnostics)
    log(LogLevel::error, "config.mistake", kernel::to_string(diagnostic),
        {{"file", diagnostic.file},
         {"line", log_count(diagnostic.line)},
         {"column", log_count(diagnostic.column)}});
}

}  // namespace

Result<void> Daemon::load_config() {
  const auto diagnostics = config_store_.reload();
  log_mistakes(diagnostics);
  if (!diagnostics.empty())
    return kernel::fail(kernel::ErrorCode::sandbox_policy_error,
                        mistakes(diagnostics.size()) +
                            " in profiles, agents, runtimes, access.toml and the token file");
  apply_config();
  return {};
}

void Daemon::reload() {
  services_.reloading();
  report_reload(config_store_.reload());
  services_.ready(status());
}

void Daemon::report_reload(const std::vector<kernel::Diagnostic>& diagnostics) {
  if (diagnostics.empty()) {
    const std::size_t profiles = config_store_.catalog().profiles.size();
    const std::size_t agents = config_store_.catalog().agents.size();
    const std::size_t tenants = config_store_.access().tenants.size();
    log(LogLevel::info, "config.reloaded",
        fmt::format("reloaded {} profiles, {} agents and {} tenants", profiles, agents, tenants),
        {{"profiles", log_count(profiles)},
         {"agents", log_count(agents)},
         {"tenants", log_count(tenants)}});
    record("config.reloaded", fmt::format("{{\"profiles\":{},\"agents\":{},\"tenants\":{}}}",
                                          profiles, agents, tenants));
    apply_config();
    share_sockets();
    open_streams_.judge();
    versions_.forget();
    if (const auto examined = examine(); !examined)
      log(LogLevel::error, "probes.failed",
          "the probes could not be tried: " + examined.error().message);
    agents_.start_added();
  } else {
    log_mistakes(diagnostics);
    log(LogLevel::error, "config.reload_failed",
        "reload failed, keeping the profiles, agents and tenants that were in force",
        {{"mistakes", log_count(diagnostics.size())}});
    record("config.reload_failed", fmt::format("{{\"mistakes\":{}}}", diagnostics.size()));
  }
  services_.status(status());
}

void Daemon::apply_config() {
  std::map<std::string, TenantLimits> limits;
  for (const Tenant& tenant : config_store_.access().tenants) {
    limits[tenant.name] = {.alive_max = tenant.alive_max,
                           .queued_max = tenant.queued_max,
                           .queued_bytes_max = tenant.queued_bytes_max};
  }
  verifier_.set_tenant_limits(limits);
  runs_.set_tenant_limits(std::move(limits));
  for (const std::string& agent : config_store_.agents_of_nobody())
    log(LogLevel::warning, "config.no_such_tenant",
        fmt::format("agent '{0}' belongs to tenant '{1}', and without an access.toml nobody is "
                    "that tenant",
                    agent, config_store_.catalog().agents.at(agent).tenant),
        {{"agent", agent}});
  budgets_.set_limits(config_store_.catalog().agents);
  verify_wishes_ = config_.verify_warm ? verify_wishes(config_store_.runtimes()) : VerifyWishes{};
  warm_.renew();  // what zygotes are made from may be another now
  if (config_store_.token() == tcp_.token) return;
  tcp_.token = config_store_.token();
  ++tcp_.token_changes;
}

// For a group that a reload has changed.
void Daemon::share_sockets() {
  const auto group = config_store_.access().socket_group;
  if (group == socket_group_) return;
  const std::string& directory = config_.runtime_directory;
  for (const auto& done : {open_socket_to(main_socket_path(directory), group),
                           open_socket_to(trainer_socket_path(directory), group),
                           open_directory_to(directory, group)}) {
    if (!done) log(LogLevel::error, "socket.group", "socket_group: " + done.error().message);
  }
  socket_group_ = group;
}

// Provokes what the profiles in force promise, and says which of them do not hold here.
Result<void> Daemon::examine() {
  const auto examined = health_.examine(config_store_.catalog().profiles);
  std::size_t passed = 0;
  std::size_t unsupported = 0;
  for (const kernel::ProfileHealth& health : health_.report().profiles) {
    for (const kernel::ProbeResult& result : health.probes.results) {
      if (result.verdict == kernel::ProbeVerdict::passed) ++passed;
      if (result.verdict == kernel::ProbeVerdict::unsupported) ++unsupported;
    }
  }
  for (const auto& [profile, why] : health_.refusals())
    log(LogLevel::error, "profile.refused", "refusing every run: " + why, {{"profile", profile}});
  log(LogLevel::info, "probes.tried",
      fmt::format("probes: {} passed, {} cannot tell on this host, {} of {} profiles are refused",
                  passed, unsupported, health_.refusals().size(),
                  config_store_.catalog().profiles.size()),
      {{"passed", log_count(passed)},
       {"unsupported", log_count(unsupported)},
       {"profiles_refused", log_count(health_.refusals().size())}});
  return examined;
}

}  // namespace paddock::supervisor
