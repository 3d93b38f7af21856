// Readiness, drains and explanations -> JSON.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "supervisor/api/json.hpp"
#include "supervisor/json/dump.hpp"
#include "supervisor/telemetry/timestamp.hpp"

namespace paddock::supervisor {
namespace {

using ordered_json = nlohmann::ordered_json;

}  // namespace

std::string event_to_json(const StoredEvent& event) {
  ordered_json object = {{"seq", event.seq},
                         {"at", timestamp(event.event.at)},
                         {"kind", event.event.kind},
                         {"subject", event.event.subject},
                         {"tenant", event.event.tenant}};
  // A body that is no JSON can only come from somebody's editing: `verify` tells, this goes on.
  ordered_json body = ordered_json::parse(event.event.body, nullptr, /*allow_exceptions=*/false);
  object["body"] = body.is_discarded() ? ordered_json(event.event.body) : std::move(body);
  return dump_line(object);
}

std::string pruned_to_json(std::uint64_t after, std::uint64_t oldest) {
  return dump_line({{"error",
                     {{"code", "pruned"},
                      {"message", fmt::format("events after {} have been pruned; the oldest is {}",
                                              after, oldest)},
                      {"oldest", oldest}}}});
}

std::string readiness_to_json(const Readiness& readiness, const WarmNow& warm) {
  ordered_json object = {{"ready", readiness.ready}};
  if (!readiness.ready) object["reason"] = readiness.reason;
  if (!readiness.profile.empty()) object["profile"] = readiness.profile;
  if (!readiness.verify.empty()) object["verify"] = readiness.verify;
  if (!readiness.verify_reason.empty()) object["verify_reason"] = readiness.verify_reason;
  object["warm"] = {{"ready", warm.ready}, {"busy", warm.busy}, {"starting", warm.starting}};
  if (!warm.last_failure.empty()) object["warm"]["last_failure"] = warm.last_failure;
  return dump_line(object);
}

std::string drain_result_to_json(const DrainResult& result) {
  return dump_line({{"finished", result.finished},
                    {"killed", result.killed},
                    {"never_started", result.never_started},
                    {"cancelled", result.cancelled}});
}

std::string explanation_to_json(const RunRecord& run, const Explanation& explanation) {
  ordered_json object = {{"id", run.id}, {"state", name_of(run.phase)}, {"profile", run.profile}};
  object["cause"] = run.result ? ordered_json(kernel::name_of(run.result->cause)) : nullptr;
  object["needed"] = explanation.needed;
  object["limit"] = explanation.limit;
  object["observed"] = explanation.observed;
  object["change"] = explanation.change;
  add_warmth(object, run);
  return dump_line(object);
}

}  // namespace paddock::supervisor
