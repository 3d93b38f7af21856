#include "supervisor/doors/rlox.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using nlohmann::json;

namespace {

std::string rlox_refusal(const std::string& body) {
  const auto verify = rlox::parse(body, "STRICT");
  INFO(body);
  REQUIRE_FALSE(verify);
  CHECK(verify.error().code == kernel::ErrorCode::invalid_request);
  return verify.error().message;
}

ItemAnswer answer_with(std::optional<double> reward, const std::string& cause) {
  ItemAnswer answer;
  answer.reward = reward;
  answer.cause = cause;
  answer.run_ms = 1500;
  answer.runs = {"r-1", "r-2"};
  return answer;
}

json rlox_rendered(const ItemAnswer& answer, bool is_adversarial = false) {
  return json::parse(rlox::render(answer, is_adversarial, std::chrono::duration<double>(2)));
}

}  // namespace

TEST_CASE("a verify request is one item with assertions, all of which must hold") {
  const auto verify = rlox::parse(
      R"({"code": "def f(): return 1", "tests": "assert f() == 1", "is_adversarial": true, "x": 1})",
      "SEALED");
  REQUIRE(verify);
  CHECK(verify->is_adversarial);
  CHECK(verify->request.profile == "SEALED");
  CHECK(verify->request.scoring == Scoring::all);
  REQUIRE(verify->request.items.size() == 1);
  const Item& item = std::get<Item>(verify->request.items[0]);
  CHECK(item.code == "def f(): return 1");
  CHECK(item.language == "python");
  CHECK(item.integrity == Integrity::separate);
  CHECK(json::parse(std::get<JudgedTests>(item.tests).job)["source"] == "assert f() == 1");
  CHECK_FALSE(rlox::parse(R"({"code": "", "tests": "assert 1"})", "STRICT")->is_adversarial);
}

TEST_CASE("a verify request with a mistake, or with tests that test nothing, is refused") {
  CHECK(rlox_refusal("{}") == "the key 'code' is missing");
  CHECK(rlox_refusal(R"({"code": "x"})") == "the key 'tests' is missing");
  CHECK(rlox_refusal(R"({"code": "x", "tests": ["assert 1"]})") == "tests: must be a string");
  CHECK(rlox_refusal(R"({"code": "x", "tests": "assert 1", "is_adversarial": 1})") ==
        "is_adversarial: must be true or false");
  CHECK(rlox_refusal(R"({"code": "x", "tests": ""})").find("assertion") != std::string::npos);
  CHECK(rlox_refusal(R"({"code": "x", "tests": "x = 1"})").find("assertion") != std::string::npos);
}

TEST_CASE("an answer has the reward and all fourteen numbers") {
  CHECK(rlox_rendered(answer_with(1.0, "passed")) ==
        json::parse(R"({"reward": 1.0, "backend_stats": {
    "batch_wall_secs": 2.0, "rollouts_completed": 1, "rollouts_per_sec": 0.5,
    "tool_calls_per_sec": 1.0, "adversarial_injected": 0, "adversarial_contained": 0,
    "contagion_events": 0, "setup_error_events": 0, "time_to_contain_secs": [],
    "cgroup_freeze_events": 0, "cgroup_kill_events": 0, "oom_kill_events": 0,
    "gpu_idle_attributable_to_hang_secs": 0.0, "step_index": 0}})"));
  const json hung = rlox_rendered(answer_with(0.0, "wall_clock"), true)["backend_stats"];
  CHECK(hung.size() == 14);
  CHECK(hung["adversarial_injected"] == 1);
  CHECK(hung["adversarial_contained"] == 1);
  CHECK(hung["time_to_contain_secs"] == json{1.5});
  CHECK(hung["cgroup_kill_events"] == 1);
  CHECK(hung["gpu_idle_attributable_to_hang_secs"] == 1.5);
  CHECK(rlox_rendered(answer_with(0.0, "memory_limit"))["backend_stats"]["oom_kill_events"] == 1);
}

TEST_CASE("an answer without a reward is a fault, and whose") {
  CHECK(rlox::fault_of(answer_with(0.0, "wrong_answer")) == std::nullopt);
  CHECK(rlox::fault_of(answer_with(std::nullopt, "host_overloaded"))->code ==
        kernel::ErrorCode::internal);
  CHECK(rlox::fault_of(answer_with(std::nullopt, "tests_unusable"))->code ==
        kernel::ErrorCode::invalid_request);
}
