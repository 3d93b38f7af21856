// Goal: an operator's file is a valid profile, or all that is wrong with it is said, with places in
// that file. Method: what is accepted obeys every rule of a policy, and printed as TOML it is read
// as the same profile again.

#include <algorithm>

#include "fuzz/property.hpp"
#include "fuzz/toml_text.hpp"
#include "kernel/policy/choices.hpp"
#include "kernel/policy/load.hpp"
#include "kernel/policy/names.hpp"
#include "kernel/policy/policy.hpp"
#include "kernel/policy/policy_rules.hpp"
#include "kernel/policy/units.hpp"

using namespace paddock;
using namespace paddock::kernel;
using fuzz::must_hold;
using fuzz::quoted;

namespace {

std::string line(const std::string& key, const std::string& value) {
  return key + " = " + value + "\n";
}

std::string bytes_line(const std::string& key, const std::optional<std::uint64_t>& value) {
  return value ? line(key, quoted(format_bytes(*value))) : "";
}

std::string count_line(const std::string& key, const std::optional<std::uint64_t>& value) {
  return value ? line(key, std::to_string(*value)) : "";
}

std::string flag_line(const std::string& key, bool value) {
  return line(key, value ? "true" : "false");
}

std::string printed(const Profile& profile) {
  const ResourceLimits& limits = profile.limits;
  std::string text =
      line("name", quoted(profile.name)) + line("description", quoted(profile.description)) +
      "[limits]\n" + count_line("cpu_seconds", limits.cpu_seconds) +
      bytes_line("memory_bytes", limits.memory_bytes) +
      bytes_line("fsize_bytes", limits.fsize_bytes) + count_line("nproc", limits.nproc) +
      count_line("nofile", limits.nofile) + bytes_line("core_size", limits.core_size) +
      line("grace_seconds", quoted(format_duration(profile.grace))) +
      bytes_line("output_bytes", profile.output_bytes) +
      bytes_line("output_stop_bytes", profile.output_stop_bytes);
  if (profile.wall_clock)
    text += line("wall_seconds", quoted(format_duration(*profile.wall_clock)));
  text += "[cgroup]\n" + line("use", quoted(name_of(profile.cgroup.use))) +
          bytes_line("memory_max", profile.cgroup.memory_max) +
          count_line("pids_max", profile.cgroup.pids_max);
  if (profile.cgroup.cpu_max) text += line("cpu_max", fmt::format("{:#}", *profile.cgroup.cpu_max));
  text += "[isolation]\n" + flag_line("use_bubblewrap", profile.use_bubblewrap) +
          flag_line("deny_network", profile.deny_network) +
          line("bind_ro", quoted(profile.bind_ro)) + line("bind_rw", quoted(profile.bind_rw)) +
          line("workdir", quoted(profile.workdir)) + flag_line("new_session", profile.new_session) +
          line("seccomp", quoted(name_of(profile.seccomp))) +
          flag_line("own_host_uid", profile.own_host_uid);
  if (profile.use_bubblewrap)
    text += bytes_line("tmp_bytes", profile.tmp_bytes) +
            bytes_line("workspace_bytes", profile.workspace_bytes);
  text += "[landlock]\n" + line("use", quoted(name_of(profile.landlock.use)));
  if (profile.landlock.use != LandlockUse::never) text += count_line("abi", profile.landlock.abi);
  text += "[environment]\n" + line("allow", quoted(profile.allow_environment)) +
          line("set", quoted(profile.environment)) + "[requests]\n" +
          line("bind_ro", quoted(profile.requests.bind_ro)) +
          line("bind_rw", quoted(profile.requests.bind_rw)) +
          flag_line("network", profile.requests.network);
  return text;
}

void check_diagnostics(std::string_view text, const std::vector<Diagnostic>& diagnostics) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (const Diagnostic& diagnostic : diagnostics) {
    must_hold(diagnostic.file == "fuzz.toml", "a mistake names its file");
    must_hold(!diagnostic.message.empty(), "a mistake has a reason");
    must_hold(diagnostic.line <= lines, "a mistake is in the file", to_string(diagnostic));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  std::vector<Diagnostic> diagnostics;
  const auto profile = parse_profile(text, "fuzz.toml", diagnostics);
  check_diagnostics(text, diagnostics);
  must_hold(profile.has_value() == diagnostics.empty(), "a profile, or what is wrong with it");
  if (!profile) return 0;
  must_hold(is_name(profile->name), "a profile has a name");
  const auto policy = resolve(*profile, Request{});
  must_hold(policy.has_value() && mistakes_in(*policy).empty(), "its policy is valid");
  must_hold(policy_hash(*policy).size() == 64, "its policy has a hash");
  const std::string toml = printed(*profile);
  const auto again = parse_profile(toml, "fuzz.toml", diagnostics);
  must_hold(again.has_value(), "a printed profile is a profile",
            diagnostics.empty() ? toml : to_string(diagnostics[0]) + "\n" + toml);
  must_hold(*again == *profile, "a printed profile is read as itself", toml);
  return 0;
}
