#pragma once
// SandboxPolicy: profile + request, resolved. Every default is filled in; a limit that is absent
// means unlimited, never "use the default". It can be stored, hashed and replayed.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/base/error.hpp"
#include "kernel/policy/agent_template.hpp"
#include "kernel/policy/profile.hpp"
#include "kernel/policy/request.hpp"

namespace paddock::kernel {

// Of each stream of a long-running run, besides its log.
constexpr std::uint64_t agent_output_bytes = 16u << 10;

struct SandboxPolicy {
  std::string profile = "custom";  // the name under which the run is recorded

  std::optional<std::uint64_t> cpu_seconds;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> fsize_bytes;
  std::optional<std::uint64_t> nproc;
  std::optional<std::uint64_t> nofile;
  std::uint64_t core_size = 0;

  std::optional<std::chrono::milliseconds> wall_clock;  // wall_seconds; absent: no deadline
  std::chrono::milliseconds grace{1000};                // SIGTERM to SIGKILL
  std::uint64_t output_bytes = 10u << 20;               // kept per stream
  std::optional<std::uint64_t> output_stop_bytes;       // of both streams, kept or not

  CgroupLimits cgroup;

  bool use_bubblewrap = false;
  std::vector<std::string> bind_ro;
  std::vector<std::string> bind_rw;
  std::string workdir;  // inside the sandbox, or on the host without one; empty: the workspace
  std::uint64_t tmp_bytes = 64u << 20;
  std::uint64_t workspace_bytes = 256u << 20;
  std::string workspace;  // a host directory that is the workspace, and stays; empty: a private
                          // one. The supervisor alone sets it: no profile and no request can
  bool deny_network = false;
  bool new_session = true;
  SeccompUse seccomp = SeccompUse::off;
  bool own_host_uid = false;
  LandlockLimits landlock;

  std::map<std::string, std::string> environment;  // all that the agent gets besides HOME, PATH ...
  bool allow_degraded = false;

  bool operator==(const SandboxPolicy&) const = default;
};

// Profile + request (+ the agent's template) -> policy. The request may tighten, never loosen.
// Fails with sandbox_policy_error and names the field, the value asked for and the value allowed.
// Pure: it does not look at the file system; check_policy does. The caller has found `profile` and
// `agent` by name; an agent under another profile than its own is refused.
Result<SandboxPolicy> resolve(const Profile& profile, const Request& request,
                              const AgentTemplate* agent = nullptr);

// For the long-running run of an agent, which is the template's own: its limits of time in place of
// the profile's, stop_seconds for its grace. Its output goes to a log of limited size, so that
// little is kept beside it and no amount of it ends the run. Isolation is the profile's, all of it.
Result<SandboxPolicy> resolve_agent(const Profile& profile, const AgentTemplate& agent);

// The profile that counts: the request's, else the agent's, else default_profile_name. Empty: names
// none.
std::string profile_name_of(const std::string& requests, const std::string& agents);

// The command that the request and its agent's template give together.
std::vector<std::string> command_of(const Request& request, const AgentTemplate* agent);

// Every rule of a valid policy (policy_rules.cpp): limits >= 1 and finite; binds absolute,
// existing, free of symbolic links, each once, none below a writable one, none onto what a sandbox
// has of its own (binds.cpp); what needs bubblewrap only with it; no loader-hijack variable. Looks
// at the file system for binds and workdir. Fails with sandbox_policy_error and the first mistake.
Result<void> check_policy(const SandboxPolicy& policy);

// One line per field, `key = value`, in a fixed order: what the hash covers and `paddock policy`
// prints.
std::string canonical_text(const SandboxPolicy& policy);

// SHA-256 of canonical_text, in hex: 64 characters.
std::string policy_hash(const SandboxPolicy& policy);

}  // namespace paddock::kernel
