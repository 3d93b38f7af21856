// What `paddock agent` says, from the daemon's answers and from words.

#include "supervisor/cli/agent_text.hpp"
#include "supervisor/cli/options.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor::cli;

namespace {

const std::string failed_status = R"({"state": "failed", "since": "2026-01-01T00:00:00.000Z",
  "wanted": true, "run": null, "restarts": 3, "reason": "gave up\u001b[2J", "next_start": null,
  "iteration": 4, "policy_hash": "", "budget": {"spent": false, "dimensions": {}}, "last_end": {"run": "r-1", "at": "2026-01-01T00:00:00.000Z",
  "cause": "exited", "exit_code": 7, "detail": "", "exit_kind": "crashed", "summary": "",
  "stderr_tail": "a\nb\n"}})";

std::variant<Options, Farewell> parse(const std::vector<std::string>& words) {
  return parse_options(
      words, [](const std::string&) { return std::optional<std::string>(); }, "/");
}

}  // namespace

TEST_CASE("the list has a line for each agent") {
  const std::string answer =
      R"({"agents": [{"name": "a", "profile": "STRICT", "status": )" + failed_status + "}]}";
  CHECK(agent_list_text(answer).value() ==
        "AGENT  PROFILE  STATE   RUN  RESTARTS  LAST END\n"
        "a      STRICT   failed  -    3         exited 7, crashed\n");
}

TEST_CASE("a status says why, how it ended, and its last words, and nothing to the terminal") {
  const auto text = agent_status_text(R"({"name": "a", "status": )" + failed_status + "}").value();
  CHECK(text.state == "failed");
  CHECK(text.text ==
        "agent      a\n"
        "state      failed since 2026-01-01T00:00:00.000Z\n"
        "reason     gave up\\x1b[2J\n"
        "wanted     yes\n"
        "restarts   3\n"
        "iteration  4\n"
        "last end   exited 7, crashed at 2026-01-01T00:00:00.000Z\n"
        "its last words on stderr:\n"
        "  a\n"
        "  b\n");
  CHECK_FALSE(agent_status_text("{}"));
  CHECK(agent_status_text(R"({"name": "a", "recorded": false, "status": )" + failed_status + "}")
            .value()
            .text.find("recorded   not yet: ") != std::string::npos);
}

TEST_CASE("the status of a frozen agent says what is spent and how it gets more") {
  const std::string dimension =
      R"({"used": 12, "limit": 10, "granted": 0, "warned": true, "breached": true})";
  const auto text =
      agent_status_text(
          R"({"name": "a", "status": {"state": "frozen", "since": null, "wanted": true,
              "run": "r-1", "restarts": 0, "reason": "", "next_start": null, "iteration": null,
              "policy_hash": "", "last_end": null, "budget": {"spent": true, "dimensions": {
              "beats": )" +
          dimension + R"(, "fuel": {"used": 3, "limit": null, "granted": 0, "warned": false,
              "breached": false}}}}})")
          .value();
  CHECK(text.text ==
        "agent      a\n"
        "state      frozen\n"
        "budget     beats is spent, 12 of 10; paddock budget grant a beats N\n"
        "wanted     yes\n"
        "run        r-1\n"
        "restarts   0\n");
}

TEST_CASE("a log line is one line, whatever the agent wrote") {
  CHECK(
      log_line_text(R"({"at": "T", "run": "r", "stream": "log", "level": "info", "text": "x\ny"})")
          .value() == "T info    x\\x0ay\n");
  CHECK(log_line_text(R"({"at": "T", "run": "r", "stream": "stdout", "base64": "/wB6"})").value() ==
        "T stdout  \\xff\\x00z\n");
  CHECK_FALSE(log_line_text("garbage"));
}

TEST_CASE("the agent commands take what they need and no more") {
  const auto options = [](const std::vector<std::string>& words) {
    const auto parsed = parse(words);
    if (const auto* farewell = std::get_if<Farewell>(&parsed)) FAIL(farewell->error);
    return std::get<Options>(parsed);
  };
  CHECK(options({"agent", "list"}).command == Command::agent_list);
  CHECK(options({"agent", "start", "a"}).agent == "a");
  const Options logs = options({"agent", "logs", "a", "-n", "7", "-f"});
  CHECK(logs.command == Command::agent_logs);
  CHECK(logs.lines == 7);
  CHECK(logs.follow);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"agent"},
                                             {"agent", "start"},
                                             {"agent", "start", "a", "b"},
                                             {"agent", "logs", "a", "-n", "x"},
                                             {"agent", "logs", "a", "-n", "10001"},
                                             {"agent", "strat", "a"}})
    CHECK(std::holds_alternative<Farewell>(parse(words)));
}
