#pragma once
// AccessRules: what access.toml says, as plain data: who is which tenant, and what a tenant may do.

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::supervisor {

enum class Verb {
  run,      // start runs, plan them, and feed their input
  read,     // look at runs, agents, budgets, profiles and the host
  kill,     // stop runs
  agent,    // start, stop and restart agents, and read their logs
  budget,   // grant
  verify,   // the trainer's calls
  operate,  // reload, drain, metrics
};

std::string_view name_of(Verb verb);
std::optional<Verb> verb_named(std::string_view name);
std::set<Verb> all_verbs();
std::vector<std::string> verb_names();

enum class Sees { own, all };

struct Tenant {
  std::string name;
  std::string metrics_class = "default";  // `class` in the file
  std::set<uid_t> uids;
  std::set<gid_t> gids;
  std::set<Verb> verbs;
  std::optional<std::set<std::string>> profiles;  // absent: all
  Sees sees = Sees::own;
  std::optional<std::size_t> alive_max;  // absent, here and below: the daemon's own limit
  std::optional<std::size_t> queued_max;
  std::optional<std::size_t> queued_bytes_max;

  bool operator==(const Tenant&) const = default;
};

struct AccessRules {
  std::optional<gid_t> socket_group;  // absent: only the daemon's user and root open the sockets
  std::vector<Tenant> tenants;        // in the order of the file

  bool operator==(const AccessRules&) const = default;
};

// A tenant's label in metrics; "default" for one that the rules do not know.
std::string metrics_class_of(const AccessRules& rules, const std::string& tenant);

}  // namespace paddock::supervisor
