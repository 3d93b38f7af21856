#include "supervisor/verify/judge_report.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using nlohmann::json;

namespace {

json passed_case() {
  return {{"passed", true}, {"cause", "passed"}, {"detail", ""}, {"wall_ms", 0.4}};
}

json report_of(json cases) {
  return {{"verdict", "judged"}, {"cases", std::move(cases)}, {"waited_ms", 2.5}};
}

std::string why_refused(const std::string& text) {
  const auto report = parse_judge_report(text);
  REQUIRE_FALSE(report.has_value());
  CHECK(report.error().code == kernel::ErrorCode::internal);
  return report.error().message;
}

}  // namespace

TEST_CASE("a report says of each case whether it passed, why and how long it took") {
  const auto report = parse_judge_report(
      R"({"verdict":"judged","cases":[{"passed":true,"cause":"passed","detail":"","wall_ms":0.4},)"
      R"({"passed":false,"cause":"ended","detail":"gone","wall_ms":null}],)"
      R"("waited_ms":12.5})"
      "\n");
  REQUIRE(report.has_value());
  CHECK(report->usable);
  CHECK(report->waited_s == 0.0125);
  REQUIRE(report->cases.size() == 2);
  CHECK(report->cases[0] == CaseAnswer{true, "passed", "", std::nullopt, 0.4});
  CHECK(report->cases[1] == CaseAnswer{false, "ended", "gone", std::nullopt, std::nullopt});
}

TEST_CASE("a report of unusable tests has a reason and no cases") {
  const auto unsteady = parse_judge_report(R"({"verdict":"unsteady","detail":"another question"})");
  REQUIRE(unsteady);
  CHECK(unsteady->unsteady);
  CHECK_FALSE(unsteady->usable);
  const auto report = parse_judge_report(R"({"verdict":"unusable","detail":"no assertion"})");
  REQUIRE(report.has_value());
  CHECK_FALSE(report->usable);
  CHECK(report->detail == "no assertion");
  CHECK(report->cases.empty());
}

TEST_CASE("what is not exactly one report is none") {
  CHECK(why_refused("") == "the judge's report: no JSON");
  CHECK(why_refused("[") == "the judge's report: no JSON");
  CHECK(why_refused("[]") == "the judge's report: no object with a verdict");
  CHECK(why_refused("{}") == "the judge's report: no object with a verdict");
  CHECK(why_refused(R"({"verdict":"pass"})") ==
        "the judge's report: judged wants cases, waited_ms and nothing else");
  CHECK(why_refused(R"({"verdict":"judged"})") ==
        "the judge's report: judged wants cases, waited_ms and nothing else");
  CHECK(why_refused(R"({"verdict":"unusable"})") ==
        "the judge's report: unusable wants a detail and nothing else");
  const std::string one = report_of({passed_case()}).dump();
  REQUIRE(parse_judge_report(one).has_value());
  why_refused(one + one);
  why_refused(one + "\n" + one);
  why_refused(one.substr(0, one.size() - 1));
  json more = report_of({passed_case()});
  more["detail"] = "";
  why_refused(more.dump());
  for (const json& waited : {json(-1), json("1"), json(nullptr)}) {
    json other = report_of({passed_case()});
    other["waited_ms"] = waited;
    why_refused(other.dump());
  }
}

TEST_CASE("a case with a key too few, too many or of another type makes the report none") {
  for (const char* key : {"passed", "cause", "detail", "wall_ms"}) {
    INFO(key);
    json without = passed_case();
    without.erase(key);
    CHECK(why_refused(report_of({without}).dump()) ==
          "the judge's report: cases[0]: wants passed, cause, detail and wall_ms");
    json wrong = passed_case();
    wrong[key] = json::array();
    CHECK(why_refused(report_of({passed_case(), wrong}).dump()) ==
          "the judge's report: cases[1]: a value of the wrong type");
  }
  json more = passed_case();
  more["reward"] = 1;
  why_refused(report_of({more}).dump());
  why_refused(report_of({1}).dump());
}

TEST_CASE("a case whose cause is unknown, or contradicts that it passed, makes the report none") {
  json one = passed_case();
  one["cause"] = "wall_clock";  // of a run, which a judge does not see
  CHECK(why_refused(report_of({one}).dump()) ==
        "the judge's report: cases[0].cause: unknown 'wall_clock'");
  one["cause"] = "wrong_answer";
  CHECK(why_refused(report_of({one}).dump()) ==
        "the judge's report: cases[0]: passed and cause contradict each other");
  one = passed_case();
  one["passed"] = false;
  why_refused(report_of({one}).dump());
  one = passed_case();
  one["wall_ms"] = -1;
  why_refused(report_of({one}).dump());
}

TEST_CASE("a report has from one case to 10,000, and at most 4 MiB") {
  why_refused(report_of(json::array()).dump());
  json cases = json::array();
  for (std::size_t i = 0; i < judged_cases_max; ++i) cases.push_back(passed_case());
  CHECK(parse_judge_report(report_of(cases).dump())->cases.size() == judged_cases_max);
  cases.push_back(passed_case());
  CHECK(why_refused(report_of(cases).dump()) == "the judge's report: wants 1 to 10000 cases");

  const std::string one = report_of({passed_case()}).dump();
  CHECK(parse_judge_report(one + std::string(judge_report_bytes_max - one.size(), ' ')));
  why_refused(one + std::string(judge_report_bytes_max - one.size() + 1, ' '));
}
