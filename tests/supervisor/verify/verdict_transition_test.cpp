#include "supervisor/verify/verdict_transition.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

using namespace paddock::supervisor;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const auto recorded_at = std::chrono::system_clock::time_point(1'767'225'600s);

ItemAnswer recorded_answer() {
  ItemAnswer made;
  made.id = "a";
  made.group = "g1";
  made.verdict = Verdict::fail;
  made.reward = 0.5;
  made.passed = 1;
  made.total = 2;
  made.cause = "wrong_answer";
  made.detail = "for people";
  made.integrity = Integrity::stdio;
  made.profile = "STRICT";
  made.degraded = {"NO-MEMORY-CEILING"};
  made.stdout_tail = "tail";
  made.code_hash = "c";
  made.tests_hash = "t";
  made.policy_hash = "p";
  made.nonce = "n";
  made.mac = "m";
  made.key_id = "k";
  made.cached = true;
  made.runs = {"r-1", "r-2"};
  return made;
}

}  // namespace

TEST_CASE("a verdict's event has what a trainer needs, on one line") {
  const Transition made =
      verdict_transition(recorded_answer(), "sent", "step-1", "blue", recorded_at);
  CHECK(made.event.kind == "verify.verdict");
  CHECK(made.event.tenant == "blue");
  CHECK(made.event.at == recorded_at);
  CHECK(made.event.body ==
        R"({"request_id":"step-1","id":"a","group":"g1","verdict":"fail","reward":0.5,"passed":1,)"
        R"("total":2,"cause":"wrong_answer","integrity":"stdio","profile":"STRICT",)"
        R"("degraded":["NO-MEMORY-CEILING"],"code_hash":"c","tests_hash":"t",)"
        R"("policy_hash":"p","nonce":"n","mac":"m","key_id":"k","cached":true,)"
        R"("runs":["r-1","r-2"]})");
  CHECK(made.verdict ==
        VerdictRow{
            .tenant = "blue", .request_id = "step-1", .item = "a", .nonce = "n", .answer = "sent"});
  CHECK_FALSE(made.run);
}

TEST_CASE("what a verdict does not have is null") {
  ItemAnswer made = recorded_answer();
  made.verdict = Verdict::invalid;
  made.reward = std::nullopt;
  made.group = made.nonce = made.mac = made.key_id = "";
  const json body = json::parse(verdict_transition(made, "{}", "", "", recorded_at).event.body);
  for (const char* key : {"request_id", "group", "reward", "nonce", "mac", "key_id"}) {
    INFO(key);
    CHECK(body.at(key).is_null());
  }
  CHECK(body["verdict"] == "invalid");
}

// Goal: a request_id that is the id of somebody's run does not become an event of that run.
TEST_CASE("events of verdicts and groups have no subject") {
  CHECK(verdict_transition(recorded_answer(), "{}", "r-0123456789abcdef", "", recorded_at)
            .event.subject.empty());
  CHECK(
      group_transition({.request_id = "r-0123456789abcdef", .group = "g", .ids = {}, .rewards = {}},
                       "", recorded_at)
          .event.subject.empty());
}

TEST_CASE("a group's event has the ids and rewards in the order of the request") {
  const Transition made = group_transition({.request_id = "step-1",
                                            .group = "g1",
                                            .ids = {"b", "a", "c"},
                                            .rewards = {1.0, std::nullopt, 1.0 / 3}},
                                           "blue", recorded_at);
  CHECK(made.event.kind == "verify.group");
  CHECK(made.event.tenant == "blue");
  CHECK(made.event.body == R"({"request_id":"step-1","group":"g1","ids":["b","a","c"],)"
                           R"("rewards":[1.0,null,0.3333333333333333]})");
  CHECK(json::parse(made.event.body)["rewards"][2].get<double>() == 1.0 / 3);
  CHECK_FALSE(made.verdict);
}

TEST_CASE("bytes that are no text do not keep a verdict from being recorded") {
  ItemAnswer made = recorded_answer();
  made.id = "\xff";
  CHECK(json::parse(verdict_transition(made, "{}", "", "", recorded_at).event.body)["id"] ==
        "\uFFFD");
}
