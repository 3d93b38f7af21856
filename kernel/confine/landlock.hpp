#pragma once
// SandboxPolicy -> the Landlock rules that the agent's process sets on itself. Pure.
//
// Whatever the rules allow, a process in a Landlock domain cannot trace a process outside it, read
// its memory or environment, or take its descriptors: that is what cuts the agent off from its init
// and, without bubblewrap, from every other process of the same user.

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/confine/host.hpp"
#include "kernel/policy/policy.hpp"

namespace paddock::kernel {

struct LandlockRule {
  std::string path;  // as the agent sees it; the rule holds for all below it
  std::uint64_t access = 0;

  bool operator==(const LandlockRule&) const = default;
};

struct LandlockRules {
  unsigned abi = 0;                // of the kernel; 0: no Landlock is used
  std::uint64_t handled_file = 0;  // LANDLOCK_ACCESS_FS_*: refused except where a rule allows it
  std::uint64_t scoped = 0;        // LANDLOCK_SCOPE_*
  std::vector<LandlockRule> allowed;

  bool operator==(const LandlockRules&) const = default;
};

// No rules if the policy does not want them or the kernel has less than the ABI that it names.
LandlockRules landlock_rules(const SandboxPolicy& policy, const HostFacts& host);

// The names of linux/landlock.h in lower case, without their prefix: "read_file".
std::vector<std::string> names_of_rights(std::uint64_t access);
std::vector<std::string> names_of_scopes(std::uint64_t scoped);

// landlock_seen_* bits of launch_wire.hpp: what rules like these must refuse to paddock-launch.
std::uint32_t expected_landlock_seen(const LandlockRules& rules);

}  // namespace paddock::kernel
