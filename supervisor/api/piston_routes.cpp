// The front door of Piston's clients.

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/api/errors.hpp"
#include "supervisor/api/run_code.hpp"
#include "supervisor/doors/piston.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Error;
using kernel::ErrorCode;

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
  const Runtimes runtimes = context.config_store.runtimes();
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
  const RefuseCode refuse = [exchange = call.exchange](const Error& error) {
    refuse_piston(exchange, error);
  };
  if (!execute) return refuse(execute.error());
  const Runtime* runtime = find_runtime(context.config_store.runtimes(), execute->ask.language);
  if (runtime == nullptr)
    return refuse(unknown_language(context.config_store.runtimes(), execute->ask.language));
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

}  // namespace paddock::supervisor
