// resolve(): profile + request -> policy. It decides what a request may change; whether the result
// is a valid policy is check_policy's question.

#include <algorithm>

#include <fmt/format.h>

#include "kernel/policy/environment.hpp"
#include "kernel/policy/names.hpp"
#include "kernel/policy/paths.hpp"
#include "kernel/policy/policy.hpp"
#include "kernel/policy/units.hpp"

namespace paddock::kernel {
namespace {

tl::unexpected<Error> refuse(std::string message) {
  return fail(ErrorCode::sandbox_policy_error, std::move(message));
}

SandboxPolicy policy_of(const Profile& profile) {
  SandboxPolicy policy;
  policy.profile = profile.name;
  policy.cpu_seconds = profile.limits.cpu_seconds;
  policy.memory_bytes = profile.limits.memory_bytes;
  policy.fsize_bytes = profile.limits.fsize_bytes;
  policy.nproc = profile.limits.nproc;
  policy.nofile = profile.limits.nofile;
  policy.core_size = profile.limits.core_size;
  policy.wall_clock = profile.wall_clock;
  policy.grace = profile.grace;
  policy.output_bytes = profile.output_bytes;
  policy.output_stop_bytes = profile.output_stop_bytes;
  policy.cgroup = profile.cgroup;
  policy.use_bubblewrap = profile.use_bubblewrap;
  policy.bind_ro = profile.bind_ro;
  policy.bind_rw = profile.bind_rw;
  policy.workdir = profile.workdir;
  policy.tmp_bytes = profile.tmp_bytes;
  policy.workspace_bytes = profile.workspace_bytes;
  policy.deny_network = profile.deny_network;
  policy.new_session = profile.new_session;
  policy.seccomp = profile.seccomp;
  policy.own_host_uid = profile.own_host_uid;
  policy.landlock = profile.landlock;
  policy.environment = profile.environment;
  return policy;
}

class Resolver {
 public:
  Resolver(const Profile& profile, const Request& request, const AgentTemplate* agent)
      : profile_(profile), request_(request), agent_(agent), policy_(policy_of(profile)) {}

  Result<SandboxPolicy> resolve() && {
    TRY_VOID(check_agent());
    TRY_VOID(tighten_limits());
    TRY_VOID(choose_directory());
    TRY_VOID(merge_environment());
    TRY_VOID(add_binds("request.bind_ro", request_.bind_ro, /*writable=*/false, policy_.bind_ro));
    TRY_VOID(add_binds("request.bind_rw", request_.bind_rw, /*writable=*/true, policy_.bind_rw));
    TRY_VOID(open_network());
    policy_.allow_degraded = request_.allow_degraded;
    return std::move(policy_);
  }

 private:
  // The template picks its profile. A request that could pick another would loosen the agent.
  Result<void> check_agent() const {
    if (agent_ == nullptr || agent_->profile == profile_.name) return {};
    return refuse(fmt::format("agent '{}' runs under profile '{}', not '{}'", agent_->name,
                              agent_->profile, profile_.name));
  }

  // Absent: unlimited. The smaller of two limits stands, and a larger one is an error: a client
  // that asks for ten minutes and silently gets five has been told a lie.
  template <class T, class Format>
  Result<void> tighten(std::string_view field, const std::optional<T>& asked,
                       std::optional<T>& limit, Format format) const {
    if (!asked) return {};
    if (*asked < T{1}) return refuse(fmt::format("{} must be at least {}", field, format(T{1})));
    if (limit && *asked > *limit) {
      return refuse(fmt::format("{} {} is above the {} that profile '{}' allows", field,
                                format(*asked), format(*limit), profile_.name));
    }
    limit = asked;
    return {};
  }

  Result<void> tighten_limits() {
    const auto& r = request_;
    TRY_VOID(tighten("request.wall_seconds", r.wall_clock, policy_.wall_clock, format_duration));
    TRY_VOID(tighten("request.cpu_seconds", r.cpu_seconds, policy_.cpu_seconds, format_count));
    TRY_VOID(tighten("request.memory_bytes", r.memory_bytes, policy_.memory_bytes, format_bytes));
    TRY_VOID(tighten("request.fsize_bytes", r.fsize_bytes, policy_.fsize_bytes, format_bytes));
    TRY_VOID(tighten("request.nproc", r.nproc, policy_.nproc, format_count));
    TRY_VOID(tighten("request.nofile", r.nofile, policy_.nofile, format_count));
    std::optional<std::uint64_t> output_bytes = policy_.output_bytes;
    TRY_VOID(tighten("request.output_bytes", r.output_bytes, output_bytes, format_bytes));
    policy_.output_bytes = *output_bytes;
    TRY_VOID(tighten("request.output_stop_bytes", r.output_stop_bytes, policy_.output_stop_bytes,
                     format_bytes));
    return {};
  }

  Result<void> choose_directory() {
    if (agent_ != nullptr && !agent_->workdir.empty()) policy_.workdir = agent_->workdir;
    if (!request_.workdir.empty()) policy_.workdir = request_.workdir;
    return {};
  }

  Result<void> merge_environment() {
    if (agent_ != nullptr) {
      for (const auto& [name, value] : agent_->environment) policy_.environment[name] = value;
    }
    const std::vector<std::string>& allowed = profile_.allow_environment;
    for (const auto& [name, value] : request_.environment) {
      // Before the list is asked: no profile can allow such a name.
      TRY_VOID(check_environment_name("request.environment", name));
      if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
        return refuse(fmt::format("request.environment names '{}'; profile '{}' allows {}", name,
                                  profile_.name,
                                  allowed.empty() ? "no variables" : quoted_list(allowed)));
      }
      policy_.environment[name] = value;
    }
    return {};
  }

  Result<void> add_binds(std::string_view field, const std::vector<std::string>& asked,
                         bool writable, std::vector<std::string>& binds) const {
    if (!asked.empty() && !profile_.use_bubblewrap) {
      return refuse(fmt::format("{} needs a profile that uses bubblewrap, and '{}' does not", field,
                                profile_.name));
    }
    for (const std::string& path : asked) {
      if (const std::string mistake = path_form_mistake(path); !mistake.empty()) {
        return refuse(fmt::format("{} '{}' {}", field, path, mistake));
      }
      if (!is_granted(path, writable)) {
        return refuse(fmt::format("{} '{}' is not below a path that profile '{}' grants ({})",
                                  field, path, profile_.name, grants(writable)));
      }
      binds.push_back(path);
    }
    return {};
  }

  bool is_granted(std::string_view path, bool writable) const {
    const auto covers = [&](const std::string& prefix) { return is_at_or_below(path, prefix); };
    const auto& read_only = profile_.requests.bind_ro;
    const auto& read_write = profile_.requests.bind_rw;
    // Who may write a path may also ask to only read it.
    return std::any_of(read_write.begin(), read_write.end(), covers) ||
           (!writable && std::any_of(read_only.begin(), read_only.end(), covers));
  }

  std::string grants(bool writable) const {
    std::vector<std::string> prefixes = profile_.requests.bind_rw;
    if (!writable) {
      const auto& read_only = profile_.requests.bind_ro;
      prefixes.insert(prefixes.begin(), read_only.begin(), read_only.end());
    }
    return prefixes.empty() ? "it grants none" : "it grants " + quoted_list(prefixes);
  }

  Result<void> open_network() {
    if (!request_.network || !profile_.deny_network) return {};
    if (!profile_.requests.network) {
      return refuse(fmt::format(
          "request.network asks for the host's network, which profile '{}' does not grant",
          profile_.name));
    }
    policy_.deny_network = false;
    return {};
  }

  const Profile& profile_;
  const Request& request_;
  const AgentTemplate* agent_;
  SandboxPolicy policy_;
};

}  // namespace

Result<SandboxPolicy> resolve(const Profile& profile, const Request& request,
                              const AgentTemplate* agent) {
  return Resolver(profile, request, agent).resolve();
}

Result<SandboxPolicy> resolve_agent(const Profile& profile, const AgentTemplate& agent) {
  SandboxPolicy policy = TRY(resolve(profile, Request{}, &agent));
  policy.wall_clock = agent.wall_clock;
  policy.cpu_seconds = agent.cpu_seconds;
  policy.grace = agent.restart.stop;
  policy.output_bytes = agent_output_bytes;
  policy.output_stop_bytes.reset();
  return policy;
}

std::string profile_name_of(const std::string& requests, const std::string& agents) {
  if (!requests.empty()) return requests;
  return agents.empty() ? default_profile_name : agents;
}

std::vector<std::string> command_of(const Request& request, const AgentTemplate* agent) {
  std::vector<std::string> command;
  if (agent != nullptr) command = agent->command;
  command.insert(command.end(), request.argv.begin(), request.argv.end());
  return command;
}

}  // namespace paddock::kernel
