#pragma once
// TcpAccess: who a client on TCP is. The kernel does not say; whoever knows the token is the tenant
// that the operator has put there.

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "kernel/base/error.hpp"
#include "supervisor/access/access_rules.hpp"
#include "supervisor/access/caller.hpp"
#include "supervisor/http/request.hpp"

namespace paddock::supervisor {

struct TcpAccess {
  std::uint16_t port = 0;
  std::string token;                // empty: there is no TCP, and nobody gets in
  std::uint64_t token_changes = 0;  // a stream that was opened with another token ends
  std::string tenant;   // empty: the daemon's own user, with the rights that the doors take
  std::string profile;  // of the doors
};

enum class TcpEntry {
  let_in,
  misdirected,   // 421: the Host header is another's
  unauthorized,  // 401: no token, or a wrong one
};

// Judged for each request, before anything else of it is looked at.
TcpEntry judge_entry(const TcpAccess& access, const HttpRequest& request);

// The same as the answer to a client that is not let in: for a header whose body is not read yet.
std::optional<HttpError> refusal_of(const TcpAccess& access, const HttpRequest& head);

// By the rules in force now. `profiles`: those that runtimes name, by the operator's word. Fails
// with forbidden if the tenant is not there any more.
kernel::Result<Caller> tcp_caller(const TcpAccess& access, const AccessRules& rules,
                                  const std::set<std::string>& profiles);

}  // namespace paddock::supervisor
