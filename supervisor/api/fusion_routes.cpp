// The front door of SandboxFusion's clients.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "supervisor/api/json.hpp"
#include "supervisor/api/run_code.hpp"
#include "supervisor/doors/sandbox_fusion.hpp"
#include "supervisor/loop/timer.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Error;
using kernel::ErrorCode;

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
  const Runtime* runtime = find_runtime(context.config_store.runtimes(), ask->language);
  if (runtime == nullptr)
    return respond_error(call.exchange,
                         unknown_language(context.config_store.runtimes(), ask->language));
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

}  // namespace paddock::supervisor
