#include <nlohmann/json.hpp>

#include "supervisor/verify/item_answer.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using nlohmann::json;

namespace {

ItemAnswer full_answer() {
  ItemAnswer answer;
  answer.id = "a";
  answer.group = "g1";
  answer.verdict = Verdict::fail;
  answer.reward = 1.0 / 3;
  answer.passed = 1;
  answer.total = 3;
  CaseAnswer passed;
  passed.passed = true;
  passed.cause = "passed";
  passed.wall_ms = 0.4;
  CaseAnswer failed;
  failed.cause = "wrong_answer";
  failed.detail = "got 1";
  failed.cpu_ms = 2;
  answer.cases = {passed, failed};
  answer.cause = "wrong_answer";
  answer.detail = "got 1";
  answer.integrity = Integrity::in_process;
  answer.profile = "STRICT";
  answer.degraded = {"NO-MEMORY-CEILING(cgroup)"};
  answer.queue_ms = 3;
  answer.run_ms = 61;
  answer.stdout_tail = "text\n";
  answer.stderr_tail = std::string("\xff\0", 2);
  answer.cached = true;
  answer.code_hash = std::string(64, 'c');
  answer.tests_hash = std::string(64, 't');
  answer.policy_hash = std::string(64, 'p');
  answer.nonce = "n";
  answer.runs = {"r-0000000000000001", "r-0000000000000002"};
  answer.cold_because = "judge: no zygote is ready";
  answer.by_known_answers = true;
  answer.mac = std::string(64, 'm');
  answer.key_id = "0123456789abcdef";
  return answer;
}

}  // namespace

TEST_CASE("an answer is one line of JSON, and comes back from it as it was") {
  const std::string text = answer_to_json(full_answer());
  CHECK(text.find('\n') == std::string::npos);
  CHECK(answer_from_json(text) == full_answer());
  const json object = json::parse(text);
  CHECK(object["cases"][0] ==
        json({{"verdict", "pass"}, {"cause", "passed"}, {"cpu_ms", nullptr}, {"wall_ms", 0.4}}));
  CHECK(object["isolation"]["degraded"] == json({"NO-MEMORY-CEILING(cgroup)"}));
  CHECK(object["stderr_tail_base64"] == "/wA=");
  CHECK(object["receipt"]["runs"].size() == 2);
}

TEST_CASE("an invalid answer has null for what it has not") {
  Item item;
  item.id = "a";
  const ItemAnswer answer = invalid_answer(item, "deadline", "too late");
  const json object = json::parse(answer_to_json(answer));
  for (const char* key : {"reward", "group", "nonce", "mac", "key_id"})
    CHECK(object[key].is_null());
  CHECK(object["verdict"] == "invalid");
  CHECK(answer_from_json(answer_to_json(answer)) == answer);
}

TEST_CASE("what is no answer is refused, and not half read") {
  for (const char* text : {"", "{}", "[]", "null", R"({"id":1})"}) {
    const auto read = answer_from_json(text);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == paddock::kernel::ErrorCode::not_recorded);
  }
}

TEST_CASE("an answer speaks of cold runs only where one was to be warm") {
  ItemAnswer answer = full_answer();
  CHECK(json::parse(answer_to_json(answer))["cold_because"] == "judge: no zygote is ready");
  answer.cold_because.clear();
  CHECK_FALSE(json::parse(answer_to_json(answer)).contains("cold_because"));
  CHECK(json::parse(answer_to_json(answer))["by_known_answers"] == true);
  answer.by_known_answers = false;
  CHECK_FALSE(json::parse(answer_to_json(answer)).contains("by_known_answers"));
}
