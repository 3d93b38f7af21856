#include "supervisor/api/run_code.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "kernel/policy/names.hpp"
#include "supervisor/api/admission.hpp"
#include "supervisor/runs/host_fault.hpp"

namespace paddock::supervisor {

using kernel::Error;
using kernel::ErrorCode;
using kernel::Result;

namespace {

CodeDoor door_of(const ApiContext& context, const Call& call) {
  return {.catalog = context.config_store.catalog(),
          .profile = door_profile(context, call),
          .admit = [&context, &call](const kernel::Request& request) {
            return admit(request, call.caller, context.config_store.catalog(), context.sandbox,
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

}  // namespace

std::string door_profile(const ApiContext& context, const Call& call) {
  return call.exchange.peer().over_tcp ? context.tcp.profile : kernel::unread_code_profile_name;
}

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

Call without_body(const Call& call) {
  return {.request = {}, .exchange = call.exchange, .caller = call.caller, .id = {}};
}

std::shared_ptr<CodeRun> run_code(const ApiContext& context, const Call& call, const CodeAsk& ask,
                                  const Runtime& runtime, const RuntimeVersion& version,
                                  const RefuseCode& refuse, const AnswerCode& answer) {
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

}  // namespace paddock::supervisor
