#include "supervisor/verify/verdict_transition.hpp"
#include "supervisor/telemetry/dump.hpp"

#include <nlohmann/json.hpp>

namespace paddock::supervisor {
namespace {

using nlohmann::ordered_json;

ordered_json or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

ordered_json or_null(const std::optional<double>& number) {
  return number ? ordered_json(*number) : ordered_json();
}

Transition transition(const char* kind, const std::string& tenant, const ordered_json& body,
                      std::chrono::system_clock::time_point at) {
  return {
      .event = {.kind = kind,
                .subject = {},
                .tenant = tenant,
                // Every text in it has been checked to be UTF-8; nothing is thrown if one is not.
                .body = dump(body),
                .at = at}};
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
  Transition made = transition(verdict_event, tenant, body, at);
  made.verdict = VerdictRow{.tenant = tenant,
                            .request_id = request_id,
                            .item = answer.id,
                            .nonce = answer.nonce,
                            .answer = std::move(sent)};
  return made;
}

Transition group_transition(const GroupAnswer& group, const std::string& tenant,
                            std::chrono::system_clock::time_point at) {
  ordered_json rewards = ordered_json::array();
  for (const auto& reward : group.rewards) rewards.push_back(or_null(reward));
  return transition(group_event, tenant,
                    {{"request_id", or_null(group.request_id)},
                     {"group", group.group},
                     {"ids", group.ids},
                     {"rewards", std::move(rewards)}},
                    at);
}

}  // namespace paddock::supervisor
