// The commands that need a daemon, the daemon being a test.

#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "with_daemon.hpp"

namespace {

// Times to come: the age of all is "0s".
const std::string runs = R"({"runs": [
  {"id": "r-0000000000000001", "state": "queued", "profile": "STRICT",
   "argv": ["make", "-j", "2 3"], "created_at": "2999-01-01T00:00:00.000Z"},
  {"id": "r-0000000000000002", "state": "running", "profile": "DEFAULT", "argv": ["sleep\u001b[2J"],
   "created_at": "2999-01-01T00:00:00.000Z", "confinement": {"pid": 4711}},
  {"id": "r-0000000000000003", "state": "finished", "profile": "OFF", "argv": ["false"],
   "created_at": "2999-01-01T00:00:00.000Z", "result": {"cause": "exited", "exit_code": 1}},
  {"id": "r-0000000000000004", "state": "finished", "profile": "OFF", "argv": ["yes"],
   "created_at": "2999-01-01T00:00:00.000Z", "result": {"cause": "wall_clock", "exit_code": -9}}
]})";

}  // namespace

TEST_CASE("ps shows what waits and runs, and with --all what has ended") {
  const FakeDaemon daemon(answering(200, runs));
  const CliEnded alive = with_daemon(daemon, {"ps"});
  CHECK(alive.exit_code == 0);
  CHECK(alive.out ==
        "ID                  STATE    PROFILE  AGE  CAUSE/PID  COMMAND\n"
        "r-0000000000000001  queued   STRICT   0s   -          make -j '2 3'\n"
        "r-0000000000000002  running  DEFAULT  0s   pid 4711   'sleep\\x1b[2J'\n");

  const CliEnded all = with_daemon(daemon, {"ps", "--all"});
  CHECK(all.out.find("exited 1") != std::string::npos);
  CHECK(all.out.find("wall_clock") != std::string::npos);
  CHECK(with_daemon(daemon, {"ps", "--json"}).out == runs);
}

TEST_CASE("kill asks for the end of each run, and goes on after a mistake") {
  const FakeDaemon daemon([](const FakeRequest& request, const FakeConnection& connection) {
    if (request.target.ends_with("1"))
      connection.respond(404, R"({"error": {"code": "not_found", "message": "no run"}})");
    else
      connection.respond(202, "{}");
    return true;
  });
  const CliEnded ended =
      with_daemon(daemon, {"kill", "r-0000000000000001", "../health", "r-0000000000000002"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err ==
        "paddock: kill r-0000000000000001: no run\n"
        "paddock: '../health' is not a run's id (r- and 16 hexadecimal digits)\n");
  REQUIRE(daemon.requests().size() == 2);
  CHECK(daemon.requests()[1].method == "DELETE");
  CHECK(daemon.requests()[1].target == "/v1/runs/r-0000000000000002");
}

TEST_CASE("reload says what is loaded, or every mistake") {
  const FakeDaemon good(answering(200, R"({"profiles": 5, "agents": 2})"));
  CHECK(with_daemon(good, {"reload"}).out == "reloaded: 5 profiles, 2 agents\n");

  const FakeDaemon bad(
      answering(422, R"({"error": {"code": "sandbox_policy_error", "message": "kept",
    "diagnostics": [{"file": "a.toml", "line": 3, "column": 1, "message": "unknown key"},
                    {"file": "b.toml", "line": 4, "column": 2, "message": "too small"}]}})"));
  const CliEnded ended = with_daemon(bad, {"reload"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err ==
        "paddock: a.toml:3:1: unknown key\npaddock: b.toml:4:2: too small\npaddock: kept\n");
}

TEST_CASE("what the daemon's host cannot isolate is exit code 3") {
  const FakeDaemon daemon([](const FakeRequest& request, const FakeConnection& connection) {
    if (request.method == "GET")
      connection.respond(200, R"({"isolation": {"use_bubblewrap": true}})");
    else
      connection.respond(
          501, R"({"error": {"code": "sandbox_not_available", "message": "no bubblewrap"}})");
    return true;
  });
  const CliEnded ended = with_daemon(daemon, {"run", "--profile", "STRICT", "--", "true"});
  CHECK(ended.exit_code == 3);
  CHECK(ended.err == "paddock: no bubblewrap\n");
}

TEST_CASE("a daemon of another kind is an error, not a crash") {
  for (const char* body : {"", "[]", "{}", "{\"profiles\": 1}", "{\"runs\": [{}]}"}) {
    const FakeDaemon daemon(answering(200, body));
    for (const Words& words : {Words{"ps"}, Words{"profile", "list"}, Words{"profile", "show", "X"},
                               Words{"doctor"}, Words{"policy"}, Words{"run", "--", "true"}}) {
      const CliEnded ended = with_daemon(daemon, words);
      INFO(words.front() << " " << body << "\n" << ended.err);
      CHECK(ended.exit_code == 1);
      CHECK(ended.err.compare(0, 9, "paddock: ") == 0);
    }
  }
}

TEST_CASE("doctor says what the daemon says, where that answers for the host and not for doctor") {
  const FakeDaemon daemon([](const FakeRequest& request, const FakeConnection& connection) {
    if (request.target == "/v1/doctor")
      connection.respond(503, R"({"error": {"code": "draining", "message": "going down"}})");
    else
      connection.respond(200, R"({"host": "an answer that does not fit into a short string"})");
    return true;
  });
  const CliEnded ended = with_daemon(daemon, {"doctor"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err == "paddock: going down\n");  // and no complaint of a leak
}
