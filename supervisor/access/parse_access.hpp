#pragma once
// access.toml -> AccessRules. Names of users and groups become numbers here: what is in force does
// not change when a user database does, or when it cannot be reached.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/error.hpp"
#include "kernel/confine/host_uid.hpp"
#include "kernel/policy/load.hpp"
#include "supervisor/access/access_rules.hpp"

namespace paddock::supervisor {

// What the file is judged against.
struct AccessContext {
  uid_t daemon_uid = 0;
  kernel::HostUidRange host_uids;  // no tenant may have one of them: they are for runs
  // The known ones; absent: they could not all be read, and then nothing is said about them.
  std::optional<std::set<std::string>> profiles;
  // Fail with not_found for a name that there is none of, and with io if nobody can tell.
  std::function<kernel::Result<uid_t>(const std::string&)> uid_named;
  std::function<kernel::Result<gid_t>(const std::string&)> gid_named;
  // True if this process may give a file of its own to that group.
  std::function<bool(gid_t)> may_give_to;
};

// Of this process and this host's user database, which may block.
AccessContext host_access_context(const kernel::HostUidRange& host_uids);

// `file` is used in diagnostics only. Mistakes are appended to `diagnostics`, ordered by line; the
// rules are of use only if there is none.
AccessRules parse_access(std::string_view text, const std::string& file,
                         const AccessContext& context,
                         std::vector<kernel::Diagnostic>& diagnostics);

}  // namespace paddock::supervisor
