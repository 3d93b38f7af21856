// budget show and grant, the daemon being a test.

#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "with_daemon.hpp"

namespace {

const std::string of_writer =
    R"({"agent": "writer", "spent": true, "dimensions": {
        "cpu_s": {"used": 9, "limit": 10, "granted": 0, "warned": true, "breached": false},
        "tokens": {"used": 12, "limit": 12, "granted": 2, "warned": true, "breached": true},
        "wall_s": {"used": 77, "limit": null, "granted": 0, "warned": false, "breached": false}}})";
const std::string of_idle = R"({"agent": "idle", "spent": false, "dimensions": {}})";

FakeDaemon::Handler two_agents() {
  return [](const FakeRequest& request, const FakeConnection& connection) {
    if (request.target == "/v1/agents")
      connection.respond(200, R"({"agents": [{"name": "idle"}, {"name": "writer"}]})");
    else if (request.target.starts_with("/v1/agents/idle/"))
      connection.respond(200, of_idle);
    else if (request.target.starts_with("/v1/agents/writer/"))
      connection.respond(200, of_writer);
    else
      connection.respond(404,
                         R"({"error": {"code": "unknown_agent", "message": "no agent 'none'"}})");
    return true;
  };
}

constexpr const char* writers_table =
    "AGENT   DIMENSION  USED  LIMIT  GRANTED  STATE\n"
    "writer  cpu_s      9     10     0        80 %\n"
    "writer  tokens     12    12     2        spent\n"
    "writer  wall_s     77    -      0        -\n";

}  // namespace

TEST_CASE("budget show prints each dimension of one agent, or of all of them") {
  const FakeDaemon daemon(two_agents());
  const CliEnded one = with_daemon(daemon, {"budget", "show", "writer"});
  CHECK(one.exit_code == 0);
  CHECK(one.out == writers_table);
  CHECK(daemon.requests().size() == 1);
  CHECK(daemon.requests()[0].method == "GET");
  CHECK(daemon.requests()[0].target == "/v1/agents/writer/budget");
  CHECK(with_daemon(daemon, {"budget", "show"}).out == writers_table);
  CHECK(with_daemon(daemon, {"budget", "show", "writer", "--json"}).out == of_writer);
  CHECK(with_daemon(daemon, {"budget", "show", "--json"}).out == of_idle + of_writer);
}

TEST_CASE("budget grant asks for the amount, and prints that dimension alone") {
  const FakeDaemon daemon(two_agents());
  const CliEnded granted = with_daemon(daemon, {"budget", "grant", "writer", "tokens", "2"});
  CHECK(granted.exit_code == 0);
  CHECK(granted.out ==
        "AGENT   DIMENSION  USED  LIMIT  GRANTED  STATE\n"
        "writer  tokens     12    12     2        spent\n");
  REQUIRE(daemon.requests().size() == 1);
  CHECK(daemon.requests()[0].method == "POST");
  CHECK(daemon.requests()[0].target == "/v1/agents/writer/budget/grant");
  CHECK(nlohmann::json::parse(daemon.requests()[0].body) ==
        nlohmann::json({{"dim", "tokens"}, {"amount", 2}}));
}

TEST_CASE(
    "a budget of an agent that is not there, and a refused grant, are errors with the reason") {
  const FakeDaemon daemon(two_agents());
  for (const Words& words :
       {Words{"budget", "show", "none"}, Words{"budget", "grant", "none", "tokens", "1"}}) {
    const CliEnded ended = with_daemon(daemon, words);
    CHECK(ended.exit_code == 1);
    CHECK(ended.err == "paddock: no agent 'none'\n");
    CHECK(ended.out.empty());
  }
}

TEST_CASE("what cannot be an agent's name or an amount is refused before the daemon is asked") {
  const FakeDaemon daemon(two_agents());
  for (const Words& words :
       {Words{"budget", "show", "../health"}, Words{"budget", "grant", "a/b", "tokens", "1"},
        Words{"budget", "grant", "writer", "tokens", "-1"},
        Words{"budget", "grant", "writer", "tokens", "0"},
        Words{"budget", "grant", "writer", "tokens", "1.5"},
        Words{"budget", "grant", "writer", "tokens", "many"},
        Words{"budget", "grant", "writer", "tokens"}, Words{"budget", "grant", "writer"},
        Words{"budget"}, Words{"budget", "show", "writer", "idle"}}) {
    const CliEnded ended = with_daemon(daemon, words);
    INFO(ended.err);
    CHECK(ended.exit_code == 1);
    CHECK_FALSE(ended.err.empty());
  }
  CHECK(daemon.requests().empty());
}

TEST_CASE("an answer that is no budget is an error, not a table") {
  for (const char* answer : {"", "[]", R"({"agent": "writer"})",
                             R"({"agent": "writer", "dimensions": {"cpu_s": {"used": "9"}}})"}) {
    const FakeDaemon daemon([answer](const FakeRequest&, const FakeConnection& connection) {
      connection.respond(200, answer);
      return true;
    });
    const CliEnded ended = with_daemon(daemon, {"budget", "show", "writer"});
    INFO(ended.err);
    CHECK(ended.exit_code == 1);
    CHECK(ended.out.empty());
    CHECK(with_daemon(daemon, {"budget", "grant", "writer", "cpu_s", "1"}).exit_code == 1);
  }
}
