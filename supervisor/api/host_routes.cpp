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
  respond_json(
      call.exchange, 200,
      fmt::format("{{\"status\":\"{}\",\"config_stale\":{},\"profiles_refused\":{},"
                  "\"runs_alive\":{},\"runs_queued\":{}}}\n",
                  context.runs.draining() ? "draining" : "ok", context.catalog.stale(),
                  context.health.refusals().size(), context.runs.alive(), context.runs.queued()));
}

}  // namespace paddock::supervisor
