// ItemAnswer <-> JSON.

#include <nlohmann/json.hpp>

#include "supervisor/json/bytes.hpp"
#include "supervisor/json/dump.hpp"
#include "supervisor/json/or_null.hpp"
#include "supervisor/verify/item_answer.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using nlohmann::ordered_json;

ordered_json case_object(const CaseAnswer& each) {
  ordered_json object = {{"verdict", each.passed ? "pass" : "fail"},
                         {"cause", each.cause},
                         {"cpu_ms", or_null(each.cpu_ms)},
                         {"wall_ms", or_null(each.wall_ms)}};
  if (!each.detail.empty()) object["detail"] = each.detail;
  return object;
}

std::string text_in(const ordered_json& object, const char* key) {
  const ordered_json& value = object.at(key);
  return value.is_null() ? std::string() : value.get<std::string>();
}

std::optional<double> number_in(const ordered_json& object, const char* key) {
  const ordered_json& value = object.at(key);
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

CaseAnswer case_in(const ordered_json& object) {
  CaseAnswer each;
  each.passed = object.at("verdict") == "pass";
  each.cause = object.at("cause").get<std::string>();
  each.detail = object.value("detail", std::string());
  each.cpu_ms = number_in(object, "cpu_ms");
  each.wall_ms = number_in(object, "wall_ms");
  return each;
}

ItemAnswer answer_in(const ordered_json& object) {
  ItemAnswer answer;
  answer.id = object.at("id").get<std::string>();
  answer.group = text_in(object, "group");
  answer.verdict =
      verdict_named(object.at("verdict").get<std::string>()).value_or(Verdict::invalid);
  answer.reward = number_in(object, "reward");
  answer.passed = object.at("passed").get<std::uint64_t>();
  answer.total = object.at("total").get<std::uint64_t>();
  for (const ordered_json& each : object.at("cases")) answer.cases.push_back(case_in(each));
  answer.cause = object.at("cause").get<std::string>();
  answer.detail = object.at("detail").get<std::string>();
  for (const Integrity integrity : {Integrity::separate, Integrity::stdio, Integrity::in_process})
    if (object.at("integrity") == name_of(integrity)) answer.integrity = integrity;
  answer.profile = object.at("isolation").at("profile").get<std::string>();
  answer.degraded = object.at("isolation").at("degraded").get<std::vector<std::string>>();
  answer.queue_ms = object.at("queue_ms").get<std::uint64_t>();
  answer.run_ms = object.at("run_ms").get<std::uint64_t>();
  answer.stdout_tail = bytes_at(object, "stdout_tail").value_or("");
  answer.stderr_tail = bytes_at(object, "stderr_tail").value_or("");
  answer.cached = object.at("cached").get<bool>();
  answer.code_hash = object.at("code_hash").get<std::string>();
  answer.tests_hash = object.at("tests_hash").get<std::string>();
  answer.policy_hash = object.at("policy_hash").get<std::string>();
  answer.nonce = text_in(object, "nonce");
  answer.runs = object.at("receipt").at("runs").get<std::vector<std::string>>();
  answer.cold_because = object.value("cold_because", std::string());
  answer.by_known_answers = object.value("by_known_answers", false);
  answer.mac = text_in(object, "mac");
  answer.key_id = text_in(object, "key_id");
  return answer;
}

}  // namespace

std::string answer_to_json(const ItemAnswer& answer) {
  ordered_json cases = ordered_json::array();
  for (const CaseAnswer& each : answer.cases) cases.push_back(case_object(each));
  ordered_json object = {
      {"id", answer.id},
      {"group", or_null(answer.group)},
      {"verdict", name_of(answer.verdict)},
      {"reward", or_null(answer.reward)},
      {"passed", answer.passed},
      {"total", answer.total},
      {"cases", std::move(cases)},
      {"cause", answer.cause},
      {"detail", answer.detail},
      {"integrity", name_of(answer.integrity)},
      {"isolation", {{"profile", answer.profile}, {"degraded", answer.degraded}}},
      {"queue_ms", answer.queue_ms},
      {"run_ms", answer.run_ms},
  };
  add_bytes(object, "stdout_tail", answer.stdout_tail);
  add_bytes(object, "stderr_tail", answer.stderr_tail);
  object["cached"] = answer.cached;
  object["code_hash"] = answer.code_hash;
  object["tests_hash"] = answer.tests_hash;
  object["policy_hash"] = answer.policy_hash;
  object["nonce"] = or_null(answer.nonce);
  object["receipt"] = {{"runs", answer.runs}};
  if (!answer.cold_because.empty()) object["cold_because"] = answer.cold_because;
  if (answer.by_known_answers) object["by_known_answers"] = true;
  object["mac"] = or_null(answer.mac);
  object["key_id"] = or_null(answer.key_id);
  return dump(object);
}

std::string group_to_json(const GroupAnswer& group) {
  ordered_json rewards = ordered_json::array();
  for (const auto& reward : group.rewards) rewards.push_back(or_null(reward));
  return dump({{"request_id", or_null(group.request_id)},
               {"group", group.group},
               {"ids", group.ids},
               {"rewards", std::move(rewards)}});
}

Result<ItemAnswer> answer_from_json(std::string_view text) {
  try {
    return answer_in(ordered_json::parse(text));
  } catch (const ordered_json::exception& error) {
    return fail(ErrorCode::not_recorded,
                std::string("the recorded verdict cannot be read: ") + error.what());
  }
}

}  // namespace paddock::supervisor
