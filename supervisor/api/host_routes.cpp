// What the host has, and how the daemon is.

#include <nlohmann/json.hpp>

#include "supervisor/api/api.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/json/dump.hpp"
#include "supervisor/runtimes/languages.hpp"

namespace paddock::supervisor {

void get_host(const ApiContext& context, const Call& call) {
  respond_json(call.exchange, 200,
               host_to_json(context.sandbox.host(), context.sandbox.cgroup().base,
                            context.sandbox.cgroup().problem));
}

void get_doctor(const ApiContext& context, const Call& call) {
  find_languages(context.versions, context.config_store.runtimes(),
                 [&context, exchange = call.exchange](const std::vector<Language>& languages) {
                   respond_json(exchange, 200, doctor_to_json(context.health.report(), languages));
                 });
}

void get_health(const ApiContext& context, const Call& call) {
  const RunTable& runs = context.runs;
  const Caller& caller = call.caller;
  const std::size_t alive = caller.sees_all ? runs.alive() : runs.alive(caller.tenant);
  const std::size_t queued = caller.sees_all ? runs.queued() : runs.queued(caller.tenant);
  const std::string failure = context.ledger_failure();
  nlohmann::ordered_json answer = {{"status", runs.draining() ? "draining" : "ok"},
                                   {"ledger", failure.empty() ? "writing" : failure},
                                   {"config_stale", context.config_store.stale()},
                                   {"profiles_refused", context.health.refusals().size()},
                                   {"runs_alive", alive},
                                   {"runs_queued", queued}};
  if (caller.sees_all) {
    const WarmNow warm = context.warm.now();
    answer["warm"] = {{"ready", warm.ready}, {"busy", warm.busy}, {"starting", warm.starting}};
  }
  respond_json(call.exchange, 200, dump_line(answer));
}

}  // namespace paddock::supervisor
