#include "supervisor/access/caller.hpp"

#include <algorithm>

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;

}  // namespace

Caller caller_of(const Tenant& tenant) {
  return {.tenant = tenant.name,
          .metrics_class = tenant.metrics_class,
          .verbs = tenant.verbs,
          .profiles = tenant.profiles,
          .sees_all = tenant.sees == Sees::all};
}

Caller operator_caller() {
  return {.tenant = "",
          .metrics_class = "default",
          .verbs = all_verbs(),
          .profiles = std::nullopt,
          .sees_all = true};
}

kernel::Result<Caller> caller_of(const PeerIds& peer, const AccessRules& rules,
                                 const KnownUids& known) {
  // The daemon's own first: one that is itself inside a run has a uid of the range.
  if (peer.uid == known.daemon || peer.uid == 0) return operator_caller();
  if (known.runs.contains(peer.uid))
    return fail(ErrorCode::forbidden, "a process of a run may not use this socket");
  for (const Tenant& tenant : rules.tenants)
    if (tenant.uids.contains(peer.uid)) return caller_of(tenant);
  for (const Tenant& tenant : rules.tenants) {
    if (std::any_of(peer.gids.begin(), peer.gids.end(),
                    [&](gid_t gid) { return tenant.gids.contains(gid); }))
      return caller_of(tenant);
  }
  return fail(ErrorCode::forbidden,
              "no tenant has uid " + std::to_string(peer.uid) + " or one of its groups");
}

}  // namespace paddock::supervisor
