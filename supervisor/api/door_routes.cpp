// The front doors: calls that clients of other servers make.

#include <fmt/format.h>

#include <memory>

#include "supervisor/api/admission.hpp"
#include "supervisor/api/api.hpp"
#include "supervisor/api/errors.hpp"
#include "supervisor/api/json.hpp"
#include "supervisor/api/verify_admission.hpp"
#include "supervisor/doors/piston.hpp"
#include "supervisor/doors/rlox.hpp"
#include "supervisor/doors/sandbox_fusion.hpp"
#include "supervisor/loop/timer.hpp"
#include "supervisor/runs/host_fault.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Error;
using kernel::ErrorCode;
using kernel::Result;

constexpr const char* unix_profile = "STRICT";  // for languages that name none

std::string profile_of(const ApiContext& context, const Call& call) {
  return call.exchange.peer().over_tcp ? context.tcp.profile : unix_profile;
}

CodeDoor door_of(const ApiContext& context, const Call& call) {
  return {.catalog = context.catalog.catalog(),
          .profile = profile_of(context, call),
          .admit = [&context, &call](const kernel::Request& request) {
            return admit(request, call.caller, context.catalog.catalog(), context.sandbox,
                         context.health.refusals());
          }};
}

Error not_here(const Runtime& runtime, const RuntimeVersion& version) {
  return {ErrorCode::sandbox_not_available,
          fmt::format("language '{}' is unsupported on this host: {}", runtime.name, version.why)};
}

// What a run that says nothing about its program has to say.
std::optional<Error> fault_of(const Result<CodeResult>& result) {
  if (!result) return result.error();
  for (const auto* step : {&result->compile, &result->run}) {
    if (!*step || !is_host_fault((*step)->result.cause)) continue;
    return Error{ErrorCode::internal, fmt::format("{}: {}", kernel::name_of((*step)->result.cause),
                                                  (*step)->result.detail)};
  }
  return std::nullopt;
}

// What the caller can mend; everything else is the host's, and may be over in a moment.
bool is_callers(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_request:
    case ErrorCode::sandbox_policy_error:
    case ErrorCode::sandbox_not_available:
    case ErrorCode::unknown_profile:
    case ErrorCode::unknown_agent:
    case ErrorCode::not_found:
    case ErrorCode::forbidden:
      return true;
    case ErrorCode::too_busy:
    case ErrorCode::draining:
    case ErrorCode::not_recorded:
    case ErrorCode::io:
    case ErrorCode::internal:
      return false;
  }
  return false;
}

using Refuse = std::function<void(const Error&)>;
using Answer = std::function<void(const CodeResult&, const std::vector<std::string>& notes)>;

// Runs what `ask` says, if `version` is one that will do. One of the two functions is called, once:
// `refuse` also from within this call, and then there is no run.
std::shared_ptr<CodeRun> run_code(const ApiContext& context, const Call& call, const CodeAsk& ask,
                                  const Runtime& runtime, const RuntimeVersion& version,
                                  const Refuse& refuse, const Answer& answer) {
  if (!version.is_there) {
    refuse(not_here(runtime, version));
    return nullptr;
  }
  auto prepared = prepare_code(ask, runtime, door_of(context, call));
  if (!prepared) {
    context.metrics.run_refused(kernel::name_of(prepared.error().code));
    refuse(prepared.error());
    return nullptr;
  }
  const auto started = CodeRun::start(
      context.runs, std::move(prepared->job),
      [notes = std::move(prepared->notes), refuse, answer](const Result<CodeResult>& result) {
        if (const auto fault = fault_of(result)) return refuse(*fault);
        answer(*result, notes);
      });
  if (!started) {
    refuse(started.error());
    return nullptr;
  }
  call.exchange.on_client_gone([run = *started] { run->stop(); });
  return *started;
}

// Without the body, which has been read: an answer may take a while.
Call without_body(const Call& call) {
  return {.request = {}, .exchange = call.exchange, .caller = call.caller, .id = {}};
}

// ---- SandboxFusion -----------------------------------------------------------------------------

// Its clients try 504 again, and take everything else for a wrong answer.
void refuse_run_code(const Exchange& exchange, const Error& error) {
  if (is_callers(error.code)) return respond_error(exchange, error);
  exchange.respond({.status = 504,
                    .content_type = "application/json",
                    .body = error_to_json(error),
                    .headers = {{"Retry-After", "1"}}});
}

// A call that waits for its run. Whoever may still answer it keeps it.
struct Waiting {
  explicit Waiting(uv_loop_t* loop) : patience(loop) {}
  Timer patience;
  std::shared_ptr<CodeRun> run;
};

// Later the client is gone: it waits for no more than this, the queue included.
void watch_patience(const std::shared_ptr<Waiting>& waiting, const Exchange& exchange,
                    std::chrono::milliseconds time) {
  waiting->patience.start(time, [weak = std::weak_ptr(waiting), exchange] {
    const auto kept = weak.lock();
    if (!kept) return;
    refuse_run_code(exchange, {ErrorCode::too_busy, "the host has no room for this in time"});
    if (kept->run) kept->run->stop();
  });
}

}  // namespace

void post_run_code(const ApiContext& context, const Call& call) {
  const auto ask = fusion::parse(call.request.body);
  if (!ask) return respond_error(call.exchange, ask.error());
  const Runtime* runtime = find_runtime(context.catalog.runtimes(), ask->language);
  if (runtime == nullptr)
    return respond_error(call.exchange,
                         unknown_language(context.catalog.runtimes(), ask->language));
  const auto waiting = std::make_shared<Waiting>(context.loop);
  watch_patience(waiting, call.exchange,
                 fusion::time_to_answer(*ask, runtime->compile.has_value()));
  context.versions.find(*runtime, [&context, call = without_body(call), ask = *ask,
                                   runtime = *runtime, waiting](const RuntimeVersion& version) {
    const Exchange& exchange = call.exchange;
    if (!exchange.is_open()) return;
    waiting->run = run_code(
        context, call, ask, runtime, version,
        [exchange, waiting](const Error& error) { refuse_run_code(exchange, error); },
        [exchange, waiting](const CodeResult& result, const std::vector<std::string>& notes) {
          respond_json(exchange, 200, fusion::render(result, notes));
        });
  });
}

// ---- Piston ------------------------------------------------------------------------------------

namespace {

void refuse_piston(const Exchange& exchange, const Error& error) {
  Response response{.status = is_callers(error.code) ? http_status(error.code) : 503,
                    .content_type = "application/json",
                    .body = piston::render_error(error.message),
                    .headers = {}};
  if (error.code == ErrorCode::too_busy) response.status = 429;
  if (response.status == 429 || response.status == 503)
    response.headers.emplace_back("Retry-After", "1");
  exchange.respond(response);
}

}  // namespace

void get_piston_runtimes(const ApiContext& context, const Call& call) {
  struct Asked {
    std::size_t open = 0;
    std::map<std::string, std::pair<Runtime, std::string>> there;
  };
  const auto asked = std::make_shared<Asked>();
  const auto answer_if_all = [asked, exchange = call.exchange] {
    if (asked->open > 0) return;
    std::vector<std::pair<Runtime, std::string>> list;
    for (const auto& [name, known] : asked->there) list.push_back(known);
    respond_json(exchange, 200, piston::render_runtimes(list));
  };
  const Runtimes runtimes = context.catalog.runtimes();
  asked->open = runtimes.size() + 1;
  for (const auto& [name, runtime] : runtimes) {
    context.versions.find(runtime,
                          [asked, answer_if_all, runtime = runtime](const RuntimeVersion& version) {
                            if (version.is_there)
                              asked->there[runtime.name] = {runtime, version.version};
                            --asked->open;
                            answer_if_all();
                          });
  }
  --asked->open;
  answer_if_all();
}

void post_piston_execute(const ApiContext& context, const Call& call) {
  const auto execute = piston::parse(call.request.body);
  const Refuse refuse = [exchange = call.exchange](const Error& error) {
    refuse_piston(exchange, error);
  };
  if (!execute) return refuse(execute.error());
  const Runtime* runtime = find_runtime(context.catalog.runtimes(), execute->ask.language);
  if (runtime == nullptr)
    return refuse(unknown_language(context.catalog.runtimes(), execute->ask.language));
  context.versions.find(*runtime, [&context, call = without_body(call), execute = *execute,
                                   runtime = *runtime, refuse](const RuntimeVersion& version) {
    if (!call.exchange.is_open()) return;
    if (!version_matches(execute.version, version.version))
      return refuse({ErrorCode::invalid_request,
                     fmt::format("{}-{} runtime is unknown; there is {}", runtime.name,
                                 execute.version, version.version)});
    run_code(context, call, execute.ask, runtime, version, refuse,
             [exchange = call.exchange, runtime, found = version.version](
                 const CodeResult& result, const std::vector<std::string>& notes) {
               respond_json(exchange, 200, piston::render(result, runtime, found, notes));
             });
  });
}

// ---- rlox --------------------------------------------------------------------------------------

namespace {

// Its client takes every answer without a reward for a reward of 0; but one that looks sees that it
// is none.
void refuse_rlox(const Exchange& exchange, const Error& error) {
  if (is_callers(error.code) || error.code == ErrorCode::too_busy)
    return respond_error(exchange, error);
  exchange.respond({.status = 503,
                    .content_type = "application/json",
                    .body = error_to_json(error),
                    .headers = {{"Retry-After", "1"}}});
}

}  // namespace

void post_rlox_verify(const ApiContext& context, const Call& call) {
  const auto arrived_at = kernel::Clock::now();
  auto verify = rlox::parse(call.request.body, profile_of(context, call));
  if (!verify) return respond_error(call.exchange, verify.error());
  auto batch = admit_batch(context, call.caller, std::move(verify->request));
  if (!batch) return refuse_rlox(call.exchange, batch.error());
  const auto submitted = context.verifier.submit(
      std::move(*batch),
      {.on_answer =
           [exchange = call.exchange, is_adversarial = verify->is_adversarial, arrived_at](
               std::size_t, const ItemAnswer& answer, const std::string&) {
             if (const auto fault = rlox::fault_of(answer)) return refuse_rlox(exchange, *fault);
             respond_json(exchange, 200,
                          rlox::render(answer, is_adversarial, kernel::Clock::now() - arrived_at));
           },
       .on_group = [](const GroupAnswer&) {},
       .on_end = [] {},
       .on_failure = [exchange =
                          call.exchange](const Error& error) { refuse_rlox(exchange, error); }});
  if (!submitted) return refuse_rlox(call.exchange, submitted.error());
  call.exchange.on_client_gone(
      [&verifier = context.verifier, id = *submitted] { verifier.cancel(id); });
}

}  // namespace paddock::supervisor
