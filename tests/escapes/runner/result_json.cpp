#include <nlohmann/json.hpp>

#include "escapes/runner/result_table.hpp"

namespace paddock::escapes {
namespace {

using nlohmann::json;

json to_object(const Judgement& judgement, std::string_view verdict) {
  json object = {{"verdict", verdict}};
  if (!judgement.word.empty()) object["word"] = judgement.word;
  if (!judgement.reason.empty()) object["reason"] = judgement.reason;
  return object;
}

std::string_view verdict_of(const Judgement& judgement) {
  return judgement.verdict == Verdict::failed ? "failed" : name_of(judgement.verdict);
}

}  // namespace

std::string to_json(const std::vector<AttemptResult>& results, const Columns& columns) {
  json attempts = json::array();
  for (const AttemptResult& result : results) {
    const bool succeeded = result.control.verdict == Verdict::open;
    json profiles = json::object();
    for (std::size_t i = 0; i < result.by_profile.size(); ++i)
      profiles[columns.profiles[i]] =
          to_object(result.by_profile[i], verdict_of(result.by_profile[i]));
    attempts.push_back(
        {{"name", result.name},
         {"group", result.group},
         {"unconfined",
          to_object(result.control, succeeded ? "succeeded" : verdict_of(result.control))},
         {"profiles", profiles}});
  }
  json counts = json::object();
  for (std::size_t i = 0; i < columns.profiles.size(); ++i) {
    const Tally count = tally(results, i);
    counts[columns.profiles[i]] = {{"stopped", count.stopped},
                                   {"open", count.open},
                                   {"unsupported", count.unsupported},
                                   {"failed", count.failed}};
  }
  const json document = {
      {"attempts", attempts}, {"summary", counts}, {"failed", any_failed(results)}};
  return document.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace paddock::escapes
