#include "supervisor/verify/judge_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

namespace paddock::supervisor {

namespace {

using nlohmann::json;

constexpr std::size_t quoted_bytes_max = 80;  // of what a message repeats

// What a judge can know of a case. How its candidate's run ended only the daemon knows: `ended`.
constexpr std::array<std::string_view, 10> causes = {
    "passed",        "wrong_answer", "raised",      "not_a_value",      "no_entry_point",
    "does_not_load", "protocol",     "not_reached", "no_assertion_ran", ended_cause};

tl::unexpected<kernel::Error> bad_report(const std::string& why) {
  return kernel::fail(kernel::ErrorCode::internal, "the judge's report: " + why);
}

// The keys of an object, each of them and no others.
bool has_exactly(const json& object, std::initializer_list<const char*> keys) {
  return object.is_object() && object.size() == keys.size() &&
         std::all_of(keys.begin(), keys.end(),
                     [&](const char* key) { return object.contains(key); });
}

bool is_time(double ms) {
  return std::isfinite(ms) && ms >= 0;
}

kernel::Result<CaseAnswer> parse_case(const json& object, std::size_t number) {
  const std::string place = "cases[" + std::to_string(number) + "]";
  if (!has_exactly(object, {"passed", "cause", "detail", "wall_ms"}))
    return bad_report(place + ": wants passed, cause, detail and wall_ms");
  const json& wall_ms = object["wall_ms"];
  if (!object["passed"].is_boolean() || !object["cause"].is_string() ||
      !object["detail"].is_string() || !(wall_ms.is_null() || wall_ms.is_number()))
    return bad_report(place + ": a value of the wrong type");

  CaseAnswer answer;
  answer.passed = object["passed"].get<bool>();
  answer.cause = object["cause"].get<std::string>();
  answer.detail = object["detail"].get<std::string>();
  if (std::find(causes.begin(), causes.end(), answer.cause) == causes.end())
    return bad_report(place + ".cause: unknown '" + answer.cause.substr(0, quoted_bytes_max) + "'");
  if (answer.passed != (answer.cause == "passed"))
    return bad_report(place + ": passed and cause contradict each other");
  if (!wall_ms.is_null()) {
    answer.wall_ms = wall_ms.get<double>();
    if (!is_time(*answer.wall_ms)) return bad_report(place + ".wall_ms: no time");
  }
  return answer;
}

}  // namespace

kernel::Result<JudgeReport> parse_judge_report(std::string_view text) {
  if (text.size() > judge_report_bytes_max)
    return bad_report("more than " + std::to_string(judge_report_bytes_max) + " bytes");
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) return bad_report("no JSON");
  if (!object.is_object() || !object.contains("verdict"))
    return bad_report("no object with a verdict");

  JudgeReport report;
  if (object["verdict"] == "unusable" || object["verdict"] == "unsteady") {
    if (!has_exactly(object, {"verdict", "detail"}) || !object["detail"].is_string())
      return bad_report("unusable wants a detail and nothing else");
    report.unsteady = object["verdict"] == "unsteady";
    report.detail = object["detail"].get<std::string>();
    return report;
  }
  if (object["verdict"] != "judged" || !has_exactly(object, {"verdict", "cases", "waited_ms"}) ||
      !object["cases"].is_array() || !object["waited_ms"].is_number())
    return bad_report("judged wants cases, waited_ms and nothing else");
  const auto waited_ms = object["waited_ms"].get<double>();
  if (!is_time(waited_ms)) return bad_report("waited_ms: no time");
  const json& cases = object["cases"];
  if (cases.empty() || cases.size() > judged_cases_max)
    return bad_report("wants 1 to " + std::to_string(judged_cases_max) + " cases");
  report.usable = true;
  report.waited_s = waited_ms / 1000;
  report.cases.reserve(cases.size());
  for (const json& one : cases) report.cases.push_back(TRY(parse_case(one, report.cases.size())));
  return report;
}

}  // namespace paddock::supervisor
