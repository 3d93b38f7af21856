// The part of AccessContext that asks this host.

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "supervisor/access/parse_access.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

constexpr std::size_t entry_bytes_max = 16u << 20;  // a group of very many members

// `query`: getpwnam_r or getgrnam_r. `id`: what is wanted of what it finds.
template <class Entry, class Id, class Query>
Result<Id> look_up(const char* kind, const std::string& name, Query query, Id Entry::*id) {
  Entry entry{};
  std::vector<char> buffer(16 * 1024);
  for (;;) {
    Entry* found = nullptr;
    const int error = query(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (error == EINTR) continue;
    if (error == ERANGE && buffer.size() < entry_bytes_max) {
      buffer.resize(buffer.size() * 2);
      continue;
    }
    if (found != nullptr) return found->*id;
    // Some databases say so with an error: getpwnam(3).
    if (error == 0 || error == ENOENT || error == ESRCH)
      return fail(ErrorCode::not_found, fmt::format("there is no {} '{}'", kind, name));
    return fail(ErrorCode::io,
                fmt::format("look up {} '{}': {}", kind, name, kernel::errno_text(error)));
  }
}

bool may_give_to(gid_t group) {
  if (::geteuid() == 0 || group == ::getegid()) return true;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  return count > 0 && std::find(groups.begin(), groups.end(), group) != groups.end();
}

}  // namespace

AccessContext host_access_context(const kernel::HostUidRange& host_uids) {
  AccessContext context;
  context.daemon_uid = ::geteuid();
  context.host_uids = host_uids;
  context.uid_named = [](const std::string& name) {
    return look_up("user", name, ::getpwnam_r, &passwd::pw_uid);
  };
  context.gid_named = [](const std::string& name) {
    return look_up("group", name, ::getgrnam_r, &group::gr_gid);
  };
  context.may_give_to = may_give_to;
  return context;
}

}  // namespace paddock::supervisor
