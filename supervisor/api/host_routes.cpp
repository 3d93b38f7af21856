// What the host has, and how the daemon is.

#include <fmt/format.h>

#include "supervisor/api/api.hpp"
#include "supervisor/api/json.hpp"

namespace paddock::supervisor {

void get_host(const ApiContext& context, const Call& call) {
  respond_json(call.exchange, 200,
               host_to_json(context.sandbox.host(), context.sandbox.cgroup().base,
                            context.sandbox.cgroup().problem));
}

void get_doctor(const ApiContext& context, const Call& call) {
  respond_json(call.exchange, 200, doctor_to_json(context.health.report()));
}

void get_health(const ApiContext& context, const Call& call) {
  const RunTable& runs = context.runs;
  const Caller& caller = call.caller;
  const std::size_t alive = caller.sees_all ? runs.alive() : runs.alive(caller.tenant);
  const std::size_t queued = caller.sees_all ? runs.queued() : runs.queued(caller.tenant);
  respond_json(call.exchange, 200,
               fmt::format("{{\"status\":\"{}\",\"config_stale\":{},\"profiles_refused\":{},"
                           "\"runs_alive\":{},\"runs_queued\":{}}}\n",
                           runs.draining() ? "draining" : "ok", context.catalog.stale(),
                           context.health.refusals().size(), alive, queued));
}

}  // namespace paddock::supervisor
