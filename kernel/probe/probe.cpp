#include "kernel/probe/probe.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "kernel/confine/bubblewrap.hpp"
#include "kernel/confine/landlock.hpp"
#include "kernel/confine/launch_wire.hpp"
#include "kernel/policy/paths.hpp"

namespace paddock::kernel {
namespace {

using Kind = Answer::Kind;

// Reached in a moment, and high enough for what paddock and a probe need themselves.
constexpr std::uint64_t nproc_most = 24;
constexpr std::uint64_t pids_most = 24;
constexpr std::uint64_t nofile_most = 64;
constexpr std::uint64_t file_bytes_most = 1u << 20;
constexpr std::uint64_t memory_max_most = 16u << 20;
constexpr std::chrono::milliseconds probe_wall_clock{10'000};
constexpr std::chrono::milliseconds shortest_wall_clock{50};
constexpr std::uint64_t answer_bytes = 64 * 1024;

std::string text(std::uint64_t number) {
  return std::to_string(number);
}

template <class T>
void lower(std::optional<T>& limit, T most) {
  if (limit) limit = std::min(*limit, most);
}

// ---- What a policy has ----

bool isolates(const ProbeSubject& subject) {
  return subject.policy.use_bubblewrap;
}
bool denies_network(const ProbeSubject& subject) {
  return subject.policy.deny_network;
}
bool filters(const ProbeSubject& subject) {
  return subject.policy.seccomp != SeccompUse::off && subject.host.seccomp;
}
bool forbids_user_namespaces(const ProbeSubject& subject) {
  return filters(subject) || subject.policy.use_bubblewrap;
}
bool has_domain(const ProbeSubject& subject) {
  return landlock_rules(subject.policy, subject.host).handled_file != 0;
}
bool scopes_signals(const ProbeSubject& subject) {
  return (landlock_rules(subject.policy, subject.host).scoped & landlock_scope_signal) != 0;
}
bool scopes_sockets(const ProbeSubject& subject) {
  return subject.policy.deny_network ||
         (landlock_rules(subject.policy, subject.host).scoped & landlock_scope_abstract_unix) != 0;
}
bool has_controller(const ProbeSubject& subject, std::string_view name) {
  return std::find(subject.controllers.begin(), subject.controllers.end(), name) !=
         subject.controllers.end();
}

// A bind that shows the target's directory makes it part of the run.
bool hides_target(const ProbeSubject& subject) {
  if (!subject.policy.use_bubblewrap) return false;
  const auto shows = [](const std::string& bind) { return is_at_or_below("/var/tmp", bind); };
  return std::none_of(subject.policy.bind_ro.begin(), subject.policy.bind_ro.end(), shows) &&
         std::none_of(subject.policy.bind_rw.begin(), subject.policy.bind_rw.end(), shows);
}

bool always(const ProbeSubject&) {
  return true;
}

// ---- What each tries ----

ProbeWords two_halves(const char* attempt, const std::string& mark) {
  const std::size_t half = mark.size() / 2;
  return {attempt, mark.substr(0, half), mark.substr(half)};
}

ProbeWords socket_words(int family, int type, int protocol) {
  return {"make_socket", std::to_string(family), std::to_string(type), std::to_string(protocol)};
}

std::vector<Probe> network_probes() {
  return {
      {"network_is_unreachable",
       "deny_network",
       ProbeRun::shared,
       {},
       true,
       denies_network,
       [](const SandboxPolicy&, const ProbeTarget& target) {
         return ProbeWords{"connect_tcp", text(target.tcp_port)};
       }},
      {"host_sockets_are_unreachable",
       "deny_network",
       ProbeRun::shared,
       {},
       true,
       scopes_sockets,
       [](const SandboxPolicy&, const ProbeTarget& target) {
         return ProbeWords{"connect_abstract", target.abstract_name};
       }},
  };
}

std::vector<Probe> seccomp_probes() {
  const Expected no_family{Kind::refused, {EAFNOSUPPORT}};
  const Expected fatal{Kind::killed, {SIGSYS}};
  return {
      {"vsock_is_refused", "seccomp", ProbeRun::shared, no_family, true, filters,
       [](const SandboxPolicy&, const ProbeTarget&) {
         return socket_words(AF_VSOCK, SOCK_STREAM, 0);
       }},
      {"netlink_is_refused", "seccomp", ProbeRun::shared, no_family, true, filters,
       [](const SandboxPolicy&, const ProbeTarget&) {
         constexpr int generic = 16;  // NETLINK_GENERIC, which needs no privilege
         return socket_words(AF_NETLINK, SOCK_RAW, generic);
       }},
      {"keyring_is_refused",
       "seccomp",
       ProbeRun::shared,
       {Kind::refused, {EPERM}},
       true,
       filters,
       [](const SandboxPolicy&, const ProbeTarget&) { return ProbeWords{"open_keyring"}; }},
      {"io_uring_is_refused",
       "seccomp",
       ProbeRun::shared,
       {Kind::refused, {ENOSYS}},
       true,
       filters,
       [](const SandboxPolicy&, const ProbeTarget&) { return ProbeWords{"set_up_io_uring"}; }},
      {"int80_is_fatal", "seccomp", ProbeRun::shared, fatal, true, filters,
       [](const SandboxPolicy&, const ProbeTarget&) { return ProbeWords{"call_int80"}; }},
      {"x32_is_fatal", "seccomp", ProbeRun::shared, fatal, true, filters,
       [](const SandboxPolicy&, const ProbeTarget&) { return ProbeWords{"call_x32"}; }},
      {"user_namespace_is_refused",
       "seccomp, bubblewrap",
       ProbeRun::shared,
       {},
       true,
       forbids_user_namespaces,
       [](const SandboxPolicy&, const ProbeTarget&) { return ProbeWords{"make_user_namespace"}; }},
  };
}

std::vector<Probe> file_probes() {
  const Expected read_only{Kind::refused, {EROFS}};
  const auto has_read_only_bind = [](const ProbeSubject& subject) {
    return subject.policy.use_bubblewrap && !subject.policy.bind_ro.empty();
  };
  return {
      {"host_file_is_unreadable",
       "bubblewrap",
       ProbeRun::shared,
       {},
       true,
       hides_target,
       [](const SandboxPolicy&, const ProbeTarget& target) {
         return ProbeWords{"read_file", target.secret};
       }},
      {"host_directory_is_unwritable",
       "bubblewrap",
       ProbeRun::shared,
       {},
       true,
       hides_target,
       [](const SandboxPolicy&, const ProbeTarget& target) {
         return ProbeWords{"make_file", target.open_directory};
       }},
      {"root_is_read_only", "bubblewrap", ProbeRun::shared, read_only, true, isolates,
       [](const SandboxPolicy&, const ProbeTarget&) {
         return ProbeWords{"make_nameless_file", "/"};
       }},
      {"bind_is_read_only", "bind_ro", ProbeRun::shared, read_only, true, has_read_only_bind,
       [](const SandboxPolicy& policy, const ProbeTarget&) {
         return ProbeWords{"make_nameless_file", policy.bind_ro.front()};
       }},
      {"planted_link_is_refused",
       "bubblewrap",
       ProbeRun::no_run,
       {},
       true,
       isolates,
       [](const SandboxPolicy&, const ProbeTarget&) { return ProbeWords{}; }},
  };
}

std::vector<Probe> outside_probes() {
  return {
      {"host_processes_are_hidden",
       "bubblewrap",
       ProbeRun::shared,
       {Kind::refused, {ESRCH}},
       true,
       isolates,
       [](const SandboxPolicy&, const ProbeTarget& target) {
         return two_halves("find_process", target.mark);
       }},
      {"host_processes_get_no_signal",
       "landlock",
       ProbeRun::shared,
       {},
       true,
       scopes_signals,
       [](const SandboxPolicy&, const ProbeTarget& target) {
         ProbeWords words = two_halves("signal_process", target.mark);
         words.insert(words.begin() + 1, std::to_string(target.process));
         return words;
       }},
      {"init_is_unreadable",
       "landlock",
       ProbeRun::shared,
       {},
       true,
       has_domain,
       [](const SandboxPolicy&, const ProbeTarget&) {
         return ProbeWords{"read_init_environment"};
       }},
      {"init_is_untraceable",
       "landlock",
       ProbeRun::shared,
       {},
       true,
       has_domain,
       [](const SandboxPolicy&, const ProbeTarget&) { return ProbeWords{"trace_init"}; }},
  };
}

std::vector<Probe> limit_probes() {
  const Expected no_space{Kind::refused, {ENOSPC}};
  return {
      {"memory_bytes_holds",
       "memory_bytes",
       ProbeRun::shared,
       {Kind::refused, {ENOMEM}},
       true,
       [](const ProbeSubject& subject) { return subject.policy.memory_bytes.has_value(); },
       [](const SandboxPolicy& policy, const ProbeTarget&) {
         return ProbeWords{"reserve_memory", text(policy.memory_bytes.value_or(0))};
       }},
      {"nproc_holds",
       "nproc",
       ProbeRun::shared,
       {Kind::refused, {EAGAIN}},
       true,
       [](const ProbeSubject& subject) { return subject.policy.nproc.has_value(); },
       [](const SandboxPolicy& policy, const ProbeTarget&) {
         return ProbeWords{"fork_often", text(policy.nproc.value_or(0))};
       }},
      {"nofile_holds",
       "nofile",
       ProbeRun::shared,
       {Kind::refused, {EMFILE}},
       true,
       [](const ProbeSubject& subject) { return subject.policy.nofile.has_value(); },
       [](const SandboxPolicy& policy, const ProbeTarget&) {
         return ProbeWords{"open_often", text(policy.nofile.value_or(0))};
       }},
      {"fsize_bytes_holds",
       "fsize_bytes",
       ProbeRun::shared,
       {Kind::refused, {EFBIG}},
       true,
       [](const ProbeSubject& subject) { return subject.policy.fsize_bytes.has_value(); },
       [](const SandboxPolicy& policy, const ProbeTarget&) {
         return ProbeWords{"write_at", text(policy.fsize_bytes.value_or(0))};
       }},
      {"tmp_bytes_holds", "tmp_bytes", ProbeRun::shared, no_space, true, isolates,
       [](const SandboxPolicy& policy, const ProbeTarget&) {
         return ProbeWords{"fill_directory", "/tmp", text(policy.tmp_bytes)};
       }},
      {"workspace_bytes_holds", "workspace_bytes", ProbeRun::shared, no_space, true, isolates,
       [](const SandboxPolicy& policy, const ProbeTarget&) {
         return ProbeWords{"fill_directory", sandbox_workspace, text(policy.workspace_bytes)};
       }},
      {"pids_max_holds",
       "[cgroup] pids_max",
       ProbeRun::pids,
       {Kind::refused, {EAGAIN}},
       true,
       [](const ProbeSubject& subject) {
         return subject.policy.cgroup.pids_max.has_value() && has_controller(subject, "pids");
       },
       [](const SandboxPolicy& policy, const ProbeTarget&) {
         return ProbeWords{"fork_often", text(policy.cgroup.pids_max.value_or(0))};
       }},
      {"memory_max_holds",
       "[cgroup] memory_max",
       ProbeRun::memory,
       {Kind::killed, {SIGKILL}},
       true,
       [](const ProbeSubject& subject) {
         return subject.policy.cgroup.memory_max.has_value() && has_controller(subject, "memory");
       },
       [](const SandboxPolicy& policy, const ProbeTarget&) {
         return ProbeWords{"touch_memory", text(2 * policy.cgroup.memory_max.value_or(0))};
       }},
      {"wall_seconds_holds",
       "wall_seconds",
       ProbeRun::wall_clock,
       {Kind::killed, {}},
       false,
       [](const ProbeSubject& subject) { return subject.policy.wall_clock.has_value(); },
       [](const SandboxPolicy&, const ProbeTarget&) {
         return ProbeWords{"wait_long", "1000"};  // milliseconds
       }},
  };
}

std::vector<Probe> ending_probes() {
  return {
      {"nothing_outlives_the_run",
       "supervision",
       ProbeRun::survivor,
       {Kind::refused, {ESRCH}},
       true,
       always,
       [](const SandboxPolicy&, const ProbeTarget& target) {
         return two_halves("leave_process", target.left_mark);
       }},
  };
}

}  // namespace

const std::vector<Probe>& all_probes() {
  static const std::vector<Probe> probes = [] {
    std::vector<Probe> all;
    for (const auto& some : {network_probes(), seccomp_probes(), file_probes(), outside_probes(),
                             limit_probes(), ending_probes()})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return probes;
}

std::vector<const Probe*> probes_for(const ProbeSubject& subject) {
  std::vector<const Probe*> probes;
  for (const Probe& probe : all_probes())
    if (probe.applies(subject)) probes.push_back(&probe);
  return probes;
}

SandboxPolicy probe_policy(const SandboxPolicy& policy, ProbeRun run) {
  SandboxPolicy lowered = policy;
  lowered.allow_degraded = true;
  lowered.wall_clock = std::min(lowered.wall_clock.value_or(probe_wall_clock), probe_wall_clock);
  lowered.output_bytes = answer_bytes;
  lowered.output_stop_bytes.reset();
  lower(lowered.nproc, nproc_most);
  lower(lowered.nofile, nofile_most);
  lower(lowered.fsize_bytes, file_bytes_most);
  lowered.tmp_bytes = std::min(lowered.tmp_bytes, file_bytes_most);
  lowered.workspace_bytes = std::min(lowered.workspace_bytes, file_bytes_most);
  if (run == ProbeRun::pids) {
    lowered.nproc.reset();
    lower(lowered.cgroup.pids_max, pids_most);
  }
  if (run == ProbeRun::memory) {
    lowered.memory_bytes.reset();
    lower(lowered.cgroup.memory_max, memory_max_most);
  }
  if (run == ProbeRun::wall_clock && policy.wall_clock) {
    lowered.wall_clock = std::min(*policy.wall_clock, shortest_wall_clock);
    lowered.grace = std::min(lowered.grace, shortest_wall_clock);
  }
  return lowered;
}

std::string_view name_of(ProbeVerdict verdict) {
  switch (verdict) {
    case ProbeVerdict::passed:
      return "passed";
    case ProbeVerdict::failed:
      return "failed";
    case ProbeVerdict::unsupported:
      return "unsupported";
  }
  return {};
}

ProbeVerdict judge(const Probe& probe, const Answer& unconfined, const Answer& confined) {
  // It worked, or its run was gone before it could say that it did not.
  if (confined.kind == Kind::done || confined.kind == Kind::silent) return ProbeVerdict::failed;
  if (!meets(confined, probe.expected)) return ProbeVerdict::unsupported;
  if (!probe.needs_comparison) return ProbeVerdict::passed;
  const bool proves = unconfined.kind != Kind::cannot && unconfined.kind != Kind::silent &&
                      !meets(unconfined, probe.expected);
  return proves ? ProbeVerdict::passed : ProbeVerdict::unsupported;
}

std::string refusal(const std::string& profile, const ProbeReport& report) {
  if (!report.not_run.empty())
    return fmt::format("profile '{}' could not be probed: {}", profile, report.not_run);
  std::string failed;
  for (const ProbeResult& result : report.results)
    if (result.verdict == ProbeVerdict::failed)
      failed += fmt::format("{}'{}' ({}): {}", failed.empty() ? "" : ", ", result.name,
                            result.control, result.confined);
  if (failed.empty()) return {};
  return fmt::format("profile '{}' does not hold here, by its probe {}", profile, failed);
}

}  // namespace paddock::kernel
