#include "supervisor/recovery/decide.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using nlohmann::json;

namespace {

const auto now = std::chrono::system_clock::time_point(std::chrono::microseconds(1'800'000'000));

RunRow row_in(const std::string& state) {
  RunRow row;
  row.id = "r-0123456789abcdef";
  row.state = state;
  row.tenant = "blue";
  row.profile = "STRICT";
  row.created_us = 5;
  return row;
}

UnfinishedRun running() {
  RunRow row = row_in("running");
  row.launcher = kernel::ProcessMark{.pid = 10, .start_ticks = 11, .boot_id = "this"};
  row.agent_process = kernel::ProcessMark{.pid = 12, .start_ticks = 13, .boot_id = "this"};
  return {.row = row, .host_uid = 60'600};
}

}  // namespace

TEST_CASE("a run that was queued has no process to look for; one that was starting may have") {
  const auto left = what_can_be_left({{.row = row_in("queued"), .host_uid = std::nullopt},
                                      {.row = row_in("starting"), .host_uid = std::nullopt},
                                      running()},
                                     "this");
  REQUIRE(left.size() == 2);
  CHECK(left[0] == LeftRun{.id = "r-0123456789abcdef", .marks = {}, .host_uid = std::nullopt});
  CHECK(left[1] == LeftRun{.id = "r-0123456789abcdef",
                           .marks = {{.pid = 10, .start_ticks = 11, .boot_id = "this"},
                                     {.pid = 12, .start_ticks = 13, .boot_id = "this"}},
                           .host_uid = 60'600});
}

TEST_CASE("processes of another boot are not looked for, whoever has their pids now") {
  const auto left = what_can_be_left({running()}, "other");
  REQUIRE(left.size() == 1);
  CHECK(left[0].marks.empty());
}

TEST_CASE("a run that was left gets one outcome, which says what it was doing") {
  const UnfinishedRun run = running();
  const Transition made = restart_transition(run.row, {.killed = 2, .gone = true}, now);
  CHECK(made.event.kind == "run.finished");
  CHECK(made.event.subject == run.row.id);
  CHECK(made.event.tenant == "blue");
  CHECK(made.event.at == now);
  RunRow expected = run.row;
  expected.state = "finished";
  expected.cause = "daemon_restart";
  expected.exit_code = -9;
  expected.ended_us = 1'800'000'000;
  CHECK(made.run == expected);
  CHECK_FALSE(made.policy);
  const json body = json::parse(made.event.body);
  CHECK(body["was"] == "running");
  CHECK(body["result"]["cause"] == "daemon_restart");
  CHECK(body["result"]["killed"] == true);
  CHECK_FALSE(body["result"].contains("survivors_unproved"));

  const auto detail = [&](const std::string& state) {
    return json::parse(restart_transition(row_in(state), {}, now).event.body)["result"]["detail"]
        .get<std::string>();
  };
  CHECK(detail("queued").find("never started") != std::string::npos);
  CHECK(detail("starting").find("being started") != std::string::npos);
  CHECK(detail("running").find("alive") != std::string::npos);
}

TEST_CASE("what could not be killed is in the outcome") {
  const json body =
      json::parse(restart_transition(running().row, {.killed = 1, .gone = false}, now).event.body);
  CHECK(body["result"]["survivors_unproved"] == true);
  CHECK(body["result"]["detail"].get<std::string>().find("could not be killed") !=
        std::string::npos);
}

TEST_CASE("a host uid and a leaf are read from what was recorded, and from nothing else") {
  CHECK(recorded_host_uid(R"({"confinement": {"host_uid": 60600}})") == uid_t{60'600});
  for (const char* body :
       {"", "[]", "nonsense", "{}", R"({"confinement": 1})",
        R"({"confinement": {"host_uid": "60600"}})", R"({"confinement": {"host_uid": -1}})",
        R"({"confinement": {"host_uid": 4294967296}})"}) {
    INFO(body);
    CHECK_FALSE(recorded_host_uid(body));
    CHECK_FALSE(recorded_leaf(body, "r-0123456789abcdef"));
  }
  const std::string id = "r-0123456789abcdef";
  CHECK(recorded_leaf(R"({"confinement": {"cgroup": "/a/r-0123456789abcdef"}})", id) ==
        "/a/r-0123456789abcdef");
  // The supervisor's own cgroup, and what is no absolute path.
  CHECK_FALSE(recorded_leaf(R"({"confinement": {"cgroup": "/a"}})", id));
  CHECK_FALSE(recorded_leaf(R"({"confinement": {"cgroup": "a/r-0123456789abcdef"}})", id));
}
