#include "supervisor/verify/verdict_transition.hpp"

#include <nlohmann/json.hpp>

#include "supervisor/json/dump.hpp"
#include "supervisor/json/or_null.hpp"

namespace paddock::supervisor {
namespace {

using nlohmann::ordered_json;

Transition transition(const char* kind, const std::string& tenant, std::string body,
                      std::chrono::system_clock::time_point at) {
  return {
      .event = {.kind = kind, .subject = {}, .tenant = tenant, .body = std::move(body), .at = at}};
}

}  // namespace

Transition verdict_transition(const ItemAnswer& answer, std::string sent,
                              const std::string& request_id, const std::string& tenant,
                              std::chrono::system_clock::time_point at) {
  const ordered_json body = {{"request_id", or_null(request_id)},
                             {"id", answer.id},
                             {"group", or_null(answer.group)},
                             {"verdict", name_of(answer.verdict)},
                             {"reward", or_null(answer.reward)},
                             {"passed", answer.passed},
                             {"total", answer.total},
                             {"cause", answer.cause},
                             {"integrity", name_of(answer.integrity)},
                             {"profile", answer.profile},
                             {"degraded", answer.degraded},
                             {"code_hash", answer.code_hash},
                             {"tests_hash", answer.tests_hash},
                             {"policy_hash", answer.policy_hash},
                             {"nonce", or_null(answer.nonce)},
                             {"mac", or_null(answer.mac)},
                             {"key_id", or_null(answer.key_id)},
                             {"cached", answer.cached},
                             {"runs", answer.runs}};
  Transition made = transition(verdict_event, tenant, dump(body), at);
  made.verdict = VerdictRow{.tenant = tenant,
                            .request_id = request_id,
                            .item = answer.id,
                            .nonce = answer.nonce,
                            .answer = std::move(sent)};
  return made;
}

Transition group_transition(const GroupAnswer& group, const std::string& tenant,
                            std::chrono::system_clock::time_point at) {
  return transition(group_event, tenant, group_to_json(group), at);
}

}  // namespace paddock::supervisor
