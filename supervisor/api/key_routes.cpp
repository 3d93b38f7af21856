// The keys of tenants: made, and looked for. A key itself is told once, to who has made it.

#include <memory>

#include "supervisor/api/api.hpp"
#include "supervisor/api/errors.hpp"
#include "supervisor/api/json.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Result;

// Only a name that access.toml has may become part of a path.
Result<void> check_tenant(const ApiContext& context, const std::string& tenant) {
  if (tenant.empty()) return {};  // the operator
  std::vector<std::string> known;
  for (const Tenant& one : context.config_store.access().tenants) {
    if (one.name == tenant) return {};
    known.push_back(one.name);
  }
  return kernel::fail(kernel::ErrorCode::not_found, unknown_name("tenant", tenant, known));
}

}  // namespace

void get_key(const ApiContext& context, const Call& call) {
  const auto named = call.request.query.find("tenant");
  const std::string tenant = named == call.request.query.end() ? "" : named->second;
  if (const auto known = check_tenant(context, tenant); !known)
    return respond_error(call.exchange, known.error());
  const auto key = context.keys.find(tenant);
  if (!key) return respond_error(call.exchange, key.error());
  respond_json(call.exchange, 200, key_id_to_json(tenant, *key));
}

void post_key(const ApiContext& context, const Call& call) {
  const auto request = parse_key_request(call.request.body);
  if (!request) return respond_error(call.exchange, request.error());
  if (const auto known = check_tenant(context, request->tenant); !known)
    return respond_error(call.exchange, known.error());
  using IfPresent = KeyStore::IfPresent;
  const IfPresent if_present = request->rotate ? IfPresent::replace : IfPresent::refuse;
  const auto made = std::make_shared<Result<MacKey>>();
  // No more of these wait than there are connections.
  context.disk_worker.submit([&keys = context.keys, made, tenant = request->tenant,
                              if_present] { *made = keys.make(tenant, if_present); },
                             [made, tenant = request->tenant, if_present, exchange = call.exchange,
                              on_key = context.on_key] {
                               if (!*made) return respond_error(exchange, made->error());
                               on_key(tenant, **made, if_present);
                               respond_json(exchange, 200, made_key_to_json(tenant, **made));
                             });
}

}  // namespace paddock::supervisor
