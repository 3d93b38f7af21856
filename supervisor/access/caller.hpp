#pragma once
// Caller: who asks, as far as the daemon cares. Worked out for each request, so that an open
// connection has no more rights than a new one.

#include <optional>
#include <set>
#include <span>
#include <string>

#include "kernel/base/error.hpp"
#include "kernel/confine/host_uid.hpp"
#include "supervisor/access/access_rules.hpp"

namespace paddock::supervisor {

struct Caller {
  std::string tenant;  // empty: the operator
  std::string metrics_class = "default";
  std::set<Verb> verbs;
  std::optional<std::set<std::string>> profiles;  // absent: all
  bool sees_all = false;

  bool may(Verb verb) const { return verbs.contains(verb); }
  // True if runs and agents of `owner` exist for this caller.
  bool sees(const std::string& owner) const { return sees_all || owner == tenant; }
  bool may_use(const std::string& profile) const {
    return !profiles || profiles->contains(profile);
  }

  bool operator==(const Caller&) const = default;
};

// Every verb, every profile, every tenant.
Caller operator_caller();

Caller caller_of(const Tenant& tenant);

// The ids of a peer as the kernel recorded them when it connected.
struct PeerIds {
  uid_t uid = 0;
  std::span<const gid_t> gids;  // the primary one included
};

// The uids that need no rule.
struct KnownUids {
  uid_t daemon = 0;
  kernel::HostUidRange runs;  // never let in, whatever the rules say
};

// Fails with forbidden if the peer is nobody here.
kernel::Result<Caller> caller_of(const PeerIds& peer, const AccessRules& rules,
                                 const KnownUids& known);

}  // namespace paddock::supervisor
