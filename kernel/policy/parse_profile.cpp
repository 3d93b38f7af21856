#include <algorithm>

#include <fmt/format.h>

#include "kernel/policy/binds.hpp"
#include "kernel/policy/choices.hpp"
#include "kernel/policy/environment.hpp"
#include "kernel/policy/parse.hpp"
#include "kernel/policy/policy_rules.hpp"
#include "kernel/policy/read_choice.hpp"

namespace paddock::kernel {
namespace {

void read_limits(TomlReader& reader, Profile& profile) {
  ResourceLimits& limits = profile.limits;
  limits.cpu_seconds = reader.whole_seconds("limits", "cpu_seconds");
  limits.memory_bytes = reader.bytes("limits", "memory_bytes");
  limits.fsize_bytes = reader.bytes("limits", "fsize_bytes");
  limits.nproc = reader.count("limits", "nproc");
  limits.nofile = reader.count("limits", "nofile");
  assign(limits.core_size, reader.bytes("limits", "core_size", /*least=*/0));
  profile.wall_clock = reader.duration("limits", "wall_seconds");
  assign(profile.grace, reader.duration("limits", "grace_seconds"));
  assign(profile.output_bytes, reader.bytes("limits", "output_bytes"));
  profile.output_stop_bytes = reader.bytes("limits", "output_stop_bytes");
}

void read_cgroup(TomlReader& reader, CgroupLimits& cgroup) {
  read_choice(reader, "cgroup", "use", cgroup_uses, cgroup.use);
  cgroup.memory_max = reader.bytes("cgroup", "memory_max");
  cgroup.pids_max = reader.count("cgroup", "pids_max");
  cgroup.cpu_max = reader.number("cgroup", "cpu_max");
}

void read_landlock(TomlReader& reader, LandlockLimits& landlock) {
  read_choice(reader, "landlock", "use", landlock_uses, landlock.use);
  const auto abi = reader.count("landlock", "abi");
  if (abi && *abi > landlock_abi_most) {
    reader.report(reader.place("landlock", "abi"),
                  fmt::format("abi is {}; known are 1 to {}", *abi, landlock_abi_most));
  } else if (abi) {
    landlock.abi = static_cast<unsigned>(*abi);
  }
  if (reader.has("landlock", "abi") && landlock.use == LandlockUse::never)
    reader.report(reader.place("landlock", "abi"), "abi has no effect with use = \"never\"");
}

void read_isolation(TomlReader& reader, Profile& profile) {
  // Of the wrong type, it is taken for true: no mistake should be reported for what needs it.
  const bool wanted = reader.has("isolation", "use_bubblewrap");
  profile.use_bubblewrap = reader.boolean("isolation", "use_bubblewrap").value_or(wanted);
  assign(profile.deny_network, reader.boolean("isolation", "deny_network"));
  profile.bind_ro = reader.text_list("isolation", "bind_ro").value_or(std::vector<std::string>{});
  profile.bind_rw = reader.text_list("isolation", "bind_rw").value_or(std::vector<std::string>{});
  assign(profile.workdir, reader.text("isolation", "workdir"));
  assign(profile.tmp_bytes, reader.bytes("isolation", "tmp_bytes"));
  assign(profile.workspace_bytes, reader.bytes("isolation", "workspace_bytes"));
  assign(profile.new_session, reader.boolean("isolation", "new_session"));
  read_choice(reader, "isolation", "seccomp", seccomp_uses, profile.seccomp);
  assign(profile.own_host_uid, reader.boolean("isolation", "own_host_uid"));

  // These two size file systems that only bubblewrap makes. In the policy they always have a value,
  // so that only here can be seen that somebody wrote one and counts on it.
  for (const std::string_view key : {"tmp_bytes", "workspace_bytes"}) {
    if (reader.has("isolation", key) && !profile.use_bubblewrap) {
      reader.report(reader.place("isolation", key),
                    fmt::format("{} needs use_bubblewrap = true", key));
    }
  }
}

void read_environment(TomlReader& reader, Profile& profile) {
  profile.allow_environment =
      reader.text_list("environment", "allow").value_or(std::vector<std::string>{});
  profile.environment = reader.text_map("environment", "set");
  for (std::size_t i = 0; i < profile.allow_environment.size(); ++i) {
    const std::string& name = profile.allow_environment[i];
    const Place place = reader.place_of_entry("environment", "allow", i);
    if (name.find_first_of("*?[") != std::string::npos) {
      reader.report(
          place, fmt::format("allow has '{}': patterns are not supported, write each name", name));
    } else if (const auto checked = check_environment_name("allow", name); !checked) {
      reader.report(place, checked.error().message);
    }
  }
}

void read_requests(TomlReader& reader, Profile& profile) {
  profile.requests.bind_ro =
      reader.text_list("requests", "bind_ro").value_or(std::vector<std::string>{});
  profile.requests.bind_rw =
      reader.text_list("requests", "bind_rw").value_or(std::vector<std::string>{});
  assign(profile.requests.network, reader.boolean("requests", "network"));
  const auto check = [&](std::string_view key, const std::vector<std::string>& prefixes) {
    if (!prefixes.empty() && !profile.use_bubblewrap) {
      reader.report(reader.place("requests", key),
                    fmt::format("{} in [requests] needs use_bubblewrap = true", key));
    }
    for (std::size_t i = 0; i < prefixes.size(); ++i) {
      const std::string mistake = grant_mistake(prefixes[i]);
      if (mistake.empty()) continue;
      reader.report(reader.place_of_entry("requests", key, i),
                    fmt::format("{} '{}' {}", key, prefixes[i], mistake));
    }
  };
  check("bind_ro", profile.requests.bind_ro);
  check("bind_rw", profile.requests.bind_rw);
}

Place place_of(const TomlReader& reader, const PolicyMistake& mistake) {
  if (mistake.table == "environment") {
    return reader.place_of_entry("environment", "set", std::string_view(mistake.key));
  }
  if (mistake.index) return reader.place_of_entry(mistake.table, mistake.key, *mistake.index);
  return reader.place(mistake.table, mistake.key);
}

// The rules of a policy hold for what the profile gives a request that asks for nothing.
void check_rules(TomlReader& reader, const Profile& profile) {
  const auto policy = resolve(profile, Request{});
  if (!policy) {
    reader.report({1, 1}, policy.error().message);
    return;
  }
  for (const PolicyMistake& mistake : mistakes_in(*policy)) {
    if (mistake.table.empty()) continue;  // the name: read_name has said so
    reader.report(place_of(reader, mistake), mistake.message);
  }
}

}  // namespace

ParsedProfile read_profile(std::string_view text, const std::string& file,
                           std::vector<Diagnostic>& diagnostics) {
  ParsedProfile parsed;
  const std::size_t begin = diagnostics.size();
  std::optional<TomlReader> reader = TomlReader::parse(text, file, diagnostics);
  if (!reader) return parsed;

  Profile& profile = parsed.profile;
  profile.source = file;
  profile.name = read_name(*reader);
  profile.description = read_description(*reader);
  read_limits(*reader, profile);
  read_cgroup(*reader, profile.cgroup);
  read_isolation(*reader, profile);
  read_landlock(*reader, profile.landlock);
  read_environment(*reader, profile);
  read_requests(*reader, profile);
  check_rules(*reader, profile);
  reader->report_unknown_keys();

  parsed.name_place = reader->place("", "name");
  parsed.valid = diagnostics.size() == begin;
  sort_by_place(diagnostics, begin);
  return parsed;
}

}  // namespace paddock::kernel
