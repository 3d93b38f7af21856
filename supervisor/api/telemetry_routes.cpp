// What an operator and a monitoring system ask: health, readiness, metrics, explanations, drains.

#include "supervisor/api/api.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/runs/explain.hpp"
#include "supervisor/runs/stored_run.hpp"

namespace paddock::supervisor {

using kernel::ErrorCode;

// That it answers is the answer.
void get_healthz(const ApiContext&, const Call& call) {
  call.exchange.respond({.status = 200, .body = "ok\n"});
}

void get_readyz(const ApiContext& context, const Call& call) {
  context.canary.ask([exchange = call.exchange, &warm = context.warm](const Readiness& readiness) {
    respond_json(exchange, readiness.ready ? 200 : 503, readiness_to_json(readiness, warm.now()));
  });
}

void get_metrics(const ApiContext& context, const Call& call) {
  call.exchange.respond({.status = 200,
                         .content_type = "text/plain; version=0.0.4; charset=utf-8",
                         .body = context.metrics.text(context.metrics_now())});
}

void get_explanation(const ApiContext& context, const Call& call) {
  if (context.runs.find(call.id) != nullptr) {
    if (const RunRecord* run = find_run(context, call))
      respond_json(call.exchange, 200, explanation_to_json(*run, explain(*run)));
    return;
  }
  // Not remembered, but perhaps on record.
  if (!is_run_id(call.id))
    return respond_error(call.exchange, {ErrorCode::not_found, "no run '" + call.id + "'"});
  context.history.find(call.id, [exchange = call.exchange, caller = call.caller, id = call.id](
                                    const kernel::Result<std::optional<StoredRun>>& stored) {
    if (!stored) return respond_error(exchange, stored.error());
    if (!*stored || !caller.sees((*stored)->row.tenant))
      return respond_error(exchange, {ErrorCode::not_found, "no run '" + id + "'"});
    const auto run = record_of(**stored);
    if (!run) return respond_error(exchange, run.error());
    respond_json(exchange, 200, explanation_to_json(*run, explain(*run)));
  });
}

void get_events(const ApiContext& context, const Call& call) {
  auto query = parse_event_query(call.request);
  if (!query) return respond_error(call.exchange, query.error());
  open_event_stream(context, call, std::move(*query), Verb::read, event_to_json);
}

// Answers when no run is left. Whoever asked may go away meanwhile: the drain goes on.
void post_drain(const ApiContext& context, const Call& call) {
  const auto deadline = parse_drain_request(call.request.body);
  if (!deadline) return respond_error(call.exchange, deadline.error());
  context.runs.drain(
      deadline->value_or(context.drain_deadline), DrainUntil::cancelled,
      [exchange = call.exchange, on_drain = context.on_drain](const DrainResult& result) {
        if (!result.cancelled) on_drain("done");
        respond_json(exchange, 200, drain_result_to_json(result));
      });
  context.verifier.drain();
  context.warm.renew();
  context.on_drain("begun");
}

void delete_drain(const ApiContext& context, const Call& call) {
  if (const auto cancelled = context.runs.undrain(); !cancelled)
    return respond_error(call.exchange, cancelled.error());
  context.agents.start_again();
  context.on_drain("cancelled");
  get_health(context, call);
}

}  // namespace paddock::supervisor
