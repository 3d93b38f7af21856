// Readiness, drains and explanations -> JSON.

#include <nlohmann/json.hpp>

#include "supervisor/api/json.hpp"

namespace paddock::supervisor {
namespace {

using ordered_json = nlohmann::ordered_json;

std::string line(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string readiness_to_json(const Readiness& readiness) {
  ordered_json object = {{"ready", readiness.ready}};
  if (!readiness.ready) object["reason"] = readiness.reason;
  if (!readiness.profile.empty()) object["profile"] = readiness.profile;
  return line(object);
}

std::string drain_result_to_json(const DrainResult& result) {
  return line({{"finished", result.finished},
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
  return line(object);
}

}  // namespace paddock::supervisor
