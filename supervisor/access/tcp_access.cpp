#include "supervisor/access/tcp_access.hpp"

#include <algorithm>

#include "supervisor/access/token.hpp"
#include "supervisor/http/loopback.hpp"

namespace paddock::supervisor {

TcpEntry judge_entry(const TcpAccess& access, const HttpRequest& request) {
  const auto host = request.headers.find("Host");
  if (!host || !is_host_of(*host, access.port)) return TcpEntry::misdirected;
  const auto authorization = request.headers.find("Authorization");
  if (access.token.empty() || !authorization || request.headers.count("Authorization") != 1 ||
      !is_authorized(*authorization, access.token))
    return TcpEntry::unauthorized;
  return TcpEntry::let_in;
}

std::optional<HttpError> refusal_of(const TcpAccess& access, const HttpRequest& head) {
  switch (judge_entry(access, head)) {
    case TcpEntry::misdirected:
      return HttpError{421, "the Host header does not name this daemon"};
    case TcpEntry::unauthorized:
      return HttpError{401, "the token of [tcp] token_file is needed: Authorization: Bearer TOKEN"};
    case TcpEntry::let_in:
      break;
  }
  return std::nullopt;
}

kernel::Result<Caller> tcp_caller(const TcpAccess& access, const AccessRules& rules,
                                  const std::set<std::string>& profiles) {
  if (access.tenant.empty()) {
    Caller caller = operator_caller();
    caller.verbs = {Verb::run, Verb::verify};
    caller.profiles = profiles;
    caller.profiles->insert(access.profile);
    caller.sees_all = false;
    return caller;
  }
  const auto tenant =
      std::find_if(rules.tenants.begin(), rules.tenants.end(),
                   [&](const Tenant& known) { return known.name == access.tenant; });
  if (tenant == rules.tenants.end())
    return kernel::fail(kernel::ErrorCode::forbidden,
                        "[tcp] tenant '" + access.tenant + "' is not in access.toml");
  return caller_of(*tenant);
}

}  // namespace paddock::supervisor
