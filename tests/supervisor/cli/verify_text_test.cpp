#include "supervisor/cli/verify_text.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace paddock::supervisor::cli;
using std::chrono::milliseconds;

namespace {

AnswerLine answer(const std::string& verdict, std::optional<double> reward,
                  const std::string& cause, const std::string& detail = {}) {
  return {"a", verdict, reward, cause, detail, "{}"};
}

}  // namespace

TEST_CASE("a line of the stream is an answer without its event, or something else") {
  const auto verdict = answer_line(
      R"({"event":"verdict","id":"a","verdict":"fail","reward":0.5,"cause":"wrong_answer","detail":"d"})");
  REQUIRE(verdict);
  REQUIRE(verdict->has_value());
  CHECK((*verdict)->reward == 0.5);
  CHECK_FALSE(nlohmann::json::parse((*verdict)->json).contains("event"));
  const auto end = answer_line(R"({"event":"end","items":1})");
  REQUIRE(end);
  CHECK_FALSE(end->has_value());
  CHECK_FALSE(answer_line("{}"));
  CHECK_FALSE(answer_line("garbage"));
}

TEST_CASE("an answer is a line: the verdict, the reward, whose, and why not") {
  CHECK(text_of(answer("pass", 1.0, "passed")) == "pass     1.000  a\n");
  CHECK(text_of(answer("fail", 0.5, "wrong_answer", "case 2")) ==
        "fail     0.500  a  wrong_answer: case 2\n");
  CHECK(text_of(answer("invalid", {}, "host_overloaded")) ==
        "invalid      -  a  host_overloaded\n");
  CHECK(text_of(answer("fail", 0.0, "raised", "\x1b[2J")).find('\x1b') == std::string::npos);
}

TEST_CASE(
    "the summary counts verdicts, names why items are invalid, and leaves them out of the mean") {
  VerifyTally tally;
  tally.add(answer("pass", 1.0, "passed"));
  tally.add(answer("fail", 0.5, "wrong_answer"));
  tally.add(answer("invalid", {}, "host_overloaded"));
  CHECK(summary(tally, milliseconds(1500)) ==
        "3 items: 1 pass, 1 fail, 1 invalid (host_overloaded); mean reward 0.750; 1.5 s\n");
  CHECK(summary(VerifyTally{}, milliseconds(0)) == "0 items: 0 pass, 0 fail, 0 invalid; 0.0 s\n");
}

TEST_CASE("the bar fills with the items and never gets wider than the terminal") {
  VerifyTally tally;
  tally.add(answer("pass", 1.0, "passed"));
  const std::string bar = progress_bar(tally, 2, milliseconds(3000), 79);
  CHECK(bar.find("[############------------]  1/2") == 0);
  CHECK(progress_bar(tally, 2, milliseconds(3000), 10).size() == 10);
}

TEST_CASE("a line that was not sent is answered as invalid, with its number") {
  const AnswerLine line = answer_to_mistake({7, {}, {}, {}, "it is no JSON object"});
  CHECK(line.verdict == "invalid");
  CHECK_FALSE(line.reward);
  CHECK(line.detail == "line 7: it is no JSON object");
}
