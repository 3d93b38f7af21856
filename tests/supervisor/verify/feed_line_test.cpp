#include "supervisor/verify/feed_line.hpp"

#include <nlohmann/json.hpp>

#include "supervisor/verify/verdict_transition.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const auto now = std::chrono::system_clock::time_point(1'767'225'600s);

StoredEvent stored(Transition transition) {
  return {.seq = 812, .event = std::move(transition.event), .hash = {}};
}

StoredEvent group() {
  return stored(group_transition({.request_id = "step-17",
                                  .group = "g1",
                                  .ids = {"a", "b", "c"},
                                  .rewards = {1.0, std::nullopt, 0.0}},
                                 "blue", now));
}

json line_of(const StoredEvent& event, AdvantageKind kind = AdvantageKind::grpo) {
  const std::string line = feed_line(event, kind);
  CHECK(line.find('\n') == line.size() - 1);
  return json::parse(line);
}

}  // namespace

TEST_CASE("a verdict's line is its event, with its place and whose it is") {
  ItemAnswer answer;
  answer.id = "a";
  answer.group = "g1";
  answer.verdict = Verdict::pass;
  answer.reward = 1.0;
  const StoredEvent event = stored(verdict_transition(answer, "{}", "step-17", "blue", now));
  const std::string line = feed_line(event, AdvantageKind::grpo);
  CHECK_THAT(line,
             Catch::StartsWith(R"({"seq":812,"at":"2026-01-01T00:00:00.000Z","kind":"verdict",)"
                               R"("tenant":"blue","request_id":"step-17","id":"a",)"
                               R"("group":"g1","verdict":"pass","reward":1.0,)"));
  CHECK_FALSE(line_of(event).contains("advantages"));
}

TEST_CASE("a group's line has the advantages that its reader picks") {
  const json grpo = line_of(group());
  CHECK(grpo["kind"] == "group");
  CHECK(grpo["request_id"] == "step-17");
  CHECK(grpo["ids"] == json({"a", "b", "c"}));
  CHECK(grpo["rewards"] == json({1.0, nullptr, 0.0}));
  CHECK(grpo["advantages"][0].get<double>() == Approx(0.5 / (std::sqrt(0.5) + 1e-4)));
  CHECK(grpo["advantages"][1].is_null());
  CHECK(line_of(group(), AdvantageKind::no_std)["advantages"] == json({0.5, nullptr, -0.5}));
  CHECK(line_of(group(), AdvantageKind::rloo)["advantages"] == json({1.0, nullptr, -1.0}));
}

TEST_CASE("what is no verdict and no group has no line") {
  StoredEvent event = group();
  for (const char* kind : {"run.finished", "verify.other", "verify.groups", ""}) {
    event.event.kind = kind;
    CHECK(feed_line(event, AdvantageKind::grpo).empty());
  }
}

// Goal: who edits the ledger does not end a trainer's feed, and no number is made of it.
TEST_CASE("an event that was edited is told apart, and has no number") {
  for (const char* body : {"", "[]", "{broken", "1", R"({"rewards": 1})", R"({"rewards": ["1"]})",
                           R"({"ids": []})", R"({"rewards": [1e400]})", R"({"rewards": [[1]]})"}) {
    INFO(body);
    StoredEvent event = group();
    event.event.body = body;
    const json line = line_of(event);
    CHECK(line["kind"] == "damaged");
    CHECK(line["seq"] == 812);
    CHECK_FALSE(line.contains("rewards"));
    CHECK_FALSE(line.contains("advantages"));
  }
}

TEST_CASE("a body cannot say another place, kind or tenant than its event") {
  StoredEvent event = group();
  event.event.body =
      R"({"seq": 1, "kind": "verdict", "tenant": "red", "at": "", "rewards": [], "advantages": [1]})";
  const json line = line_of(event);
  CHECK(line["seq"] == 812);
  CHECK(line["kind"] == "group");
  CHECK(line["tenant"] == "blue");
  CHECK(line["advantages"] == json::array());
}
