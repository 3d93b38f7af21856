#pragma once
// The doctor's report: what this host can enforce, and what not, for each profile. Used by
// `paddock doctor` and by the daemon, which refuses by it.

#include <map>
#include <string>
#include <vector>

#include "kernel/confine/controls.hpp"
#include "kernel/probe/findings.hpp"
#include "kernel/probe/run_probes.hpp"

namespace paddock::kernel {

struct ProfileHealth {
  std::string profile;
  std::string refused;  // why a run under it is refused, before any probe; empty: it is not
  std::vector<MissingControl> missing;  // what it asks for and this host does not have
  ProbeReport probes;

  // It runs, with everything that it asks for, and no probe got through.
  bool is_enforced() const;

  bool operator==(const ProfileHealth&) const = default;
};

struct DoctorReport {
  std::vector<Finding> findings;
  std::vector<ProfileHealth> profiles;  // by name
  std::optional<bool> bubblewrap_follows_links{};

  bool operator==(const DoctorReport&) const = default;
};

const ProfileHealth* find_profile(const DoctorReport& report, const std::string& name);

enum class Thoroughness {
  all,            // every probe
  without_waits,  // not those that take a while by their nature: wall_seconds_holds
};

// Blocks. Profiles that `known` has are taken from it and not probed again. Fails as run_probes
// does.
Result<DoctorReport> examine(const Sandbox& sandbox, const std::map<std::string, Profile>& profiles,
                             Thoroughness thoroughness, const DoctorReport& known = {});

// Profile -> why no run may be had under it: a probe spoke against it.
using Refusals = std::map<std::string, std::string>;

// Pure.
Refusals refusals(const DoctorReport& report);

}  // namespace paddock::kernel
