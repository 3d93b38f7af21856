// POST, GET and DELETE of runs, and their input.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "supervisor/api/admission.hpp"
#include "supervisor/api/api.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/api/query.hpp"
#include "supervisor/loop/timer.hpp"
#include "supervisor/runtimes/warm_wish.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::Result;

constexpr std::size_t list_max = 1000;

// ---- The three ways to answer POST /v1/runs ----------------------------------------------------

// One that does not start after all: the ledger cannot take it.
std::function<void(const kernel::Error&)> answer_refused(const Exchange& exchange) {
  return [exchange](const kernel::Error& error) { respond_error(exchange, error); };
}

RunObserver answer_when_finished(const Exchange& exchange) {
  return {.on_started = {},
          .on_output = {},
          .on_finished =
              [exchange](const RunRecord& run) {
                respond_json(exchange, 200, run_to_json(run, WithOutput::yes));
              },
          .on_refused = answer_refused(exchange)};
}

RunObserver answer_when_accepted(const Exchange& exchange) {
  return {.on_started = {},
          .on_output = {},
          .on_finished = {},
          .on_accepted =
              [exchange](const RunRecord& run) {
                respond_json(exchange, 202, run_to_json(run, WithOutput::no));
              },
          .on_refused = answer_refused(exchange)};
}

struct OutputStream {
  RunId id;  // filled in once the run has one; events come only after that
  std::uint64_t unread_bytes_max = 0;  // queued for a client that reads slowly
  std::uint64_t unread_bytes = 0;      // since its queue was last empty
};

RunObserver answer_as_stream(RunTable& runs, const Exchange& exchange,
                             const std::shared_ptr<OutputStream>& stream) {
  return {
      .on_started = [exchange](const RunRecord& run) { exchange.write(started_event(run)); },
      .on_output =
          [&runs, exchange, stream](kernel::Stream which, std::string_view bytes) {
            const char* name = which == kernel::Stream::stdout_stream ? "stdout" : "stderr";
            if (exchange.write(output_event(stream->id, name, bytes)) != WriteResult::full) return;
            stream->unread_bytes += bytes.size();
            // Now the program waits for its reader, as at any pipe; its wall clock does not.
            if (stream->unread_bytes > stream->unread_bytes_max)
              runs.pause_output(stream->id, true);
          },
      .on_finished =
          [exchange](const RunRecord& run) {
            exchange.write(finished_event(run));
            exchange.end();
          },
      .on_accepted =
          [&runs, exchange, stream](const RunRecord&) {
            exchange.begin_stream(
                {.status = 200, .content_type = "application/x-ndjson", .headers = {}});
            exchange.on_drained([&runs, stream] {
              stream->unread_bytes = 0;
              runs.pause_output(stream->id, false);
            });
          },
      .on_refused = answer_refused(exchange),
  };
}

// Nobody waits for the outcome any more once the client is gone; of a detached run that is so until
// it has its answer.
void stop_without_client(const ApiContext& context, const Exchange& exchange, const RunId& id) {
  exchange.on_client_gone(
      [&runs = context.runs, id] { [[maybe_unused]] const auto stopped = runs.stop(id); });
}

void submit_waiting(const ApiContext& context, const Exchange& exchange, ResolvedRun run) {
  const auto submitted = context.runs.submit(std::move(run), answer_when_finished(exchange));
  if (!submitted) return respond_error(exchange, submitted.error());
  stop_without_client(context, exchange, *submitted);
}

void submit_streamed(const ApiContext& context, const Exchange& exchange, ResolvedRun run) {
  const auto stream = std::make_shared<OutputStream>();
  stream->unread_bytes_max = run.policy.output_bytes;
  const auto submitted =
      context.runs.submit(std::move(run), answer_as_stream(context.runs, exchange, stream));
  if (!submitted) return respond_error(exchange, submitted.error());
  stream->id = *submitted;
  stop_without_client(context, exchange, *submitted);
}

void submit_detached(const ApiContext& context, const Exchange& exchange, ResolvedRun run) {
  const auto submitted = context.runs.submit(std::move(run), answer_when_accepted(exchange));
  if (!submitted) return respond_error(exchange, submitted.error());
  stop_without_client(context, exchange, *submitted);
}

Result<ResolvedRun> admit_body(const ApiContext& context, const Caller& caller,
                               const RunRequest& body) {
  ResolvedRun run = TRY(admit(body.request, caller, context.config_store.catalog(), context.sandbox,
                              context.health.refusals()));
  run.stdin_open = body.stdin_open;
  run.parent = body.parent;
  if (body.warm) run.warm = warm_wish_for(context.config_store.runtimes(), run.argv);
  return run;
}

// Answers with the run when it ends or when the time is up, whichever is first.
void answer_within(const ApiContext& context, const Call& call, std::chrono::seconds limit) {
  // The observer owns the timer, so neither outlives the other.
  const auto timer = std::make_shared<Timer>(context.loop);
  const auto observer =
      context.runs.observe(call.id, [exchange = call.exchange, timer](const RunRecord& run) {
        respond_json(exchange, 200, run_to_json(run, WithOutput::yes));
      });
  if (!observer) return;  // get_run has seen it alive
  const auto stop_observing = [&runs = context.runs, id = call.id, observer = *observer] {
    runs.unobserve(id, observer);
  };
  timer->start(limit,
               [&runs = context.runs, id = call.id, exchange = call.exchange, stop_observing] {
                 stop_observing();
                 if (const RunRecord* run = runs.find(id))
                   respond_json(exchange, 200, run_to_json(*run, WithOutput::yes));
               });
  call.exchange.on_client_gone(stop_observing);
}

// A refusal that the run table never heard of.
void refuse_run(const ApiContext& context, const Call& call, const kernel::Error& error) {
  context.metrics.run_refused(kernel::name_of(error.code));
  respond_error(call.exchange, error);
}

}  // namespace

void post_run(const ApiContext& context, const Call& call) {
  const auto body = parse_run_request(call.request.body);
  if (!body) return refuse_run(context, call, body.error());
  auto run = admit_body(context, call.caller, *body);
  if (!run) return refuse_run(context, call, run.error());
  if (body->detach) return submit_detached(context, call.exchange, std::move(*run));
  if (body->stream) return submit_streamed(context, call.exchange, std::move(*run));
  submit_waiting(context, call.exchange, std::move(*run));
}

void post_plan(const ApiContext& context, const Call& call) {
  const auto body = parse_run_request(call.request.body);
  if (!body) return respond_error(call.exchange, body.error());
  const auto run = admit_body(context, call.caller, *body);
  if (!run) return respond_error(call.exchange, run.error());
  const auto plan = context.sandbox.preview(run->policy, run->argv, run->cwd);
  if (!plan) return respond_error(call.exchange, plan.error());
  respond_json(call.exchange, 200, plan_to_json(run->policy, *plan));
}

namespace {

std::vector<const RunRecord*> known_runs(const ApiContext& context, const Caller& caller,
                                         const std::optional<RunPhase>& phase, std::size_t limit) {
  std::vector<const RunRecord*> runs;
  for (const RunRecord* run : context.runs.list()) {
    if (!caller.sees(run->tenant)) continue;
    if (phase && run->phase != *phase) continue;
    if (runs.size() == limit) break;
    runs.push_back(run);
  }
  return runs;
}

// It costs system calls for each process, so it is for those who ask for live runs alone.
void answer_with_usage(const ApiContext& context, const Call& call, std::size_t limit) {
  const auto runs = known_runs(context, call.caller, RunPhase::running, limit);
  std::map<RunId, kernel::RunUsage> usage;
  for (const RunRecord* run : runs)
    if (const auto used = context.runs.usage(run->id)) usage[run->id] = *used;
  respond_json(call.exchange, 200, live_runs_to_json(runs, usage));
}

void answer_from_ledger(const ApiContext& context, const Call& call) {
  const kernel::Error unknown{ErrorCode::not_found, "no run '" + call.id + "'"};
  if (!is_run_id(call.id)) return respond_error(call.exchange, unknown);
  context.history.find(call.id, [exchange = call.exchange, caller = call.caller,
                                 unknown](const Result<std::optional<StoredRun>>& stored) {
    if (!stored) return respond_error(exchange, stored.error());
    if (!*stored || !caller.sees((*stored)->row.tenant)) return respond_error(exchange, unknown);
    respond_json(exchange, 200, stored_run_to_json(**stored));
  });
}

}  // namespace

void get_runs(const ApiContext& context, const Call& call) {
  const auto limit = query_number(call.request, "limit", list_max);
  if (!limit) return respond_error(call.exchange, limit.error());
  const auto state = call.request.query.find("state");
  const bool any = state == call.request.query.end();
  const auto phase = any ? std::nullopt : phase_named(state->second);
  if (!any && !phase)
    return respond_error(
        call.exchange, {ErrorCode::invalid_request, "state: must be queued, running or finished"});
  const std::size_t wanted = limit->value_or(list_max);
  if (phase == RunPhase::running) return answer_with_usage(context, call, wanted);
  const auto in_memory = known_runs(context, call.caller, phase, wanted);
  // What is not in memory is finished.
  if ((phase && *phase != RunPhase::finished) || in_memory.size() >= wanted)
    return respond_json(call.exchange, 200, runs_to_json(in_memory));
  std::set<RunId> known;
  for (const RunRecord* run : context.runs.list()) known.insert(run->id);
  RunFilter filter;
  filter.state = std::string(name_of(RunPhase::finished));
  if (!call.caller.sees_all) filter.tenant = call.caller.tenant;
  filter.parent_is_not = std::string(canary_parent);
  filter.limit = wanted - in_memory.size();
  context.history.list(std::move(filter), std::move(known),
                       [context, caller = call.caller, exchange = call.exchange, phase,
                        wanted](Result<std::vector<StoredRun>> stored) {
                         if (!stored) return respond_error(exchange, stored.error());
                         const auto known_now = known_runs(context, caller, phase, wanted);
                         // One that has been forgotten or finished meanwhile is in one of the two.
                         std::erase_if(*stored, [&](const StoredRun& run) {
                           return context.runs.find(run.row.id) != nullptr;
                         });
                         respond_json(exchange, 200, runs_to_json(known_now, *stored));
                       });
}

void get_run(const ApiContext& context, const Call& call) {
  const auto wait = query_number(call.request, "wait_seconds", wait_seconds_max);
  if (!wait) return respond_error(call.exchange, wait.error());
  const RunRecord* run = context.runs.find(call.id);
  if (run == nullptr) return answer_from_ledger(context, call);
  if (find_run(context, call) == nullptr) return;  // another tenant's
  if (run->phase != RunPhase::finished && wait->value_or(0) > 0)
    return answer_within(context, call, std::chrono::seconds(**wait));
  respond_json(call.exchange, 200, run_to_json(*run, WithOutput::yes));
}

void delete_run(const ApiContext& context, const Call& call) {
  const RunRecord* before = find_run(context, call);
  if (before == nullptr) return;
  const bool was_over = before->phase == RunPhase::finished;
  if (const auto stopped = context.runs.stop(call.id); !stopped)
    return respond_error(call.exchange, stopped.error());
  respond_json(call.exchange, was_over ? 200 : 202,
               run_to_json(*context.runs.find(call.id), WithOutput::no));
}

void post_stdin(const ApiContext& context, const Call& call) {
  const auto close = query_truth(call.request, "close");
  if (!close) return respond_error(call.exchange, close.error());
  if (find_run(context, call) == nullptr) return;
  if (const auto written = context.runs.write_stdin(call.id, call.request.body, *close); !written)
    return respond_error(call.exchange, written.error());
  call.exchange.respond({.status = 204, .content_type = "", .body = "", .headers = {}});
}

}  // namespace paddock::supervisor
