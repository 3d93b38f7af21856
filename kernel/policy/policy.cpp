#include "kernel/policy/policy.hpp"

#include <fmt/format.h>

#include "kernel/base/hash.hpp"
#include "kernel/policy/choices.hpp"
#include "kernel/policy/policy_rules.hpp"
#include "kernel/policy/units.hpp"

namespace paddock::kernel {
namespace {

// As a TOML basic string, so that no value can look like another line of the text.
std::string canonical(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\u{:04X}", byte);
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string canonical(const std::vector<std::string>& values) {
  std::string result;
  for (const std::string& value : values) {
    if (!result.empty()) result += ", ";
    result += canonical(value);
  }
  return "[" + result + "]";
}

std::string canonical(const std::map<std::string, std::string>& values) {
  std::string result;
  for (const auto& [name, value] : values) {
    if (!result.empty()) result += ", ";
    result += canonical(name) + " = " + canonical(value);
  }
  return "{" + result + "}";
}

template <class T, class Format>
std::string or_unlimited(const std::optional<T>& value, Format format) {
  return value ? format(*value) : "unlimited";
}

std::string_view truth(bool value) {
  return value ? "true" : "false";
}

}  // namespace

Result<void> check_policy(const SandboxPolicy& policy) {
  const std::vector<PolicyMistake> mistakes = mistakes_in(policy);
  if (mistakes.empty()) return {};
  return fail(ErrorCode::sandbox_policy_error, mistakes.front().message);
}

std::string canonical_text(const SandboxPolicy& policy) {
  std::string text;
  const auto line = [&](std::string_view key, std::string_view value) {
    text += fmt::format("{} = {}\n", key, value);
  };
  line("profile", canonical(policy.profile));
  line("cpu_seconds", or_unlimited(policy.cpu_seconds, format_count));
  line("memory_bytes", or_unlimited(policy.memory_bytes, format_bytes));
  line("fsize_bytes", or_unlimited(policy.fsize_bytes, format_bytes));
  line("nproc", or_unlimited(policy.nproc, format_count));
  line("nofile", or_unlimited(policy.nofile, format_count));
  line("core_size", format_bytes(policy.core_size));
  line("wall_seconds", or_unlimited(policy.wall_clock, format_duration));
  line("grace_seconds", format_duration(policy.grace));
  line("output_bytes", format_bytes(policy.output_bytes));
  line("output_stop_bytes", or_unlimited(policy.output_stop_bytes, format_bytes));
  line("cgroup.use", name_of(policy.cgroup.use));
  line("cgroup.memory_max", or_unlimited(policy.cgroup.memory_max, format_bytes));
  line("cgroup.pids_max", or_unlimited(policy.cgroup.pids_max, format_count));
  line("cgroup.cpu_max",
       or_unlimited(policy.cgroup.cpu_max, [](double cores) { return fmt::format("{}", cores); }));
  line("use_bubblewrap", truth(policy.use_bubblewrap));
  line("bind_ro", canonical(policy.bind_ro));
  line("bind_rw", canonical(policy.bind_rw));
  line("workdir", canonical(policy.workdir));
  line("tmp_bytes", format_bytes(policy.tmp_bytes));
  line("workspace_bytes", format_bytes(policy.workspace_bytes));
  line("workspace", canonical(policy.workspace));
  line("deny_network", truth(policy.deny_network));
  line("new_session", truth(policy.new_session));
  line("seccomp", name_of(policy.seccomp));
  line("own_host_uid", truth(policy.own_host_uid));
  line("landlock.use", name_of(policy.landlock.use));
  line("landlock.abi", format_count(policy.landlock.abi));
  line("environment", canonical(policy.environment));
  line("allow_degraded", truth(policy.allow_degraded));
  return text;
}

std::string policy_hash(const SandboxPolicy& policy) {
  return sha256_hex(canonical_text(policy));
}

}  // namespace paddock::kernel
