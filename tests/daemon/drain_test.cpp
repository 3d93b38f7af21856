// POST /v1/drain: runs may finish, nothing new is taken, and the daemon stays.

#include <csignal>

#include "support/daemon_fixture.hpp"

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

TEST_CASE("a drain lets runs finish, kills the rest at its deadline, and says how many") {
  DaemonFixture daemon({.config = "[limits]\nruns_alive = 2\n"});
  const std::string short_one = daemon.start(shell("sleep 0.3; echo whole"));
  const std::string marker = unique_marker();
  const std::string long_one = daemon.start(shell(marked_sleeper(marker)));
  daemon.wait_until_started(short_one);
  daemon.wait_until_started(long_one);
  const std::string queued = daemon.start(shell("true"));

  HttpConnection drain(daemon.socket());
  drain.send_request("POST", "/v1/drain", R"({"deadline_seconds": 1})");
  REQUIRE(eventually([&] { return daemon.health("status") == "draining"; }));
  CHECK(daemon.post("/v1/runs", shell("true")).error_code() == "draining");
  const json result = drain.receive_reply().json();
  CHECK(result ==
        json({{"finished", 1}, {"killed", 1}, {"never_started", 1}, {"cancelled", false}}));
  CHECK(daemon.finished(short_one)["result"]["stdout"] == "whole\n");
  CHECK(daemon.finished(long_one)["result"]["cause"] == "shutdown");
  CHECK(daemon.finished(queued)["result"]["cause"] == "shutdown");
  CHECK(processes_with(marker).empty());

  // It stays, drained, until it is told otherwise.
  CHECK(daemon.health("status") == "draining");
  CHECK(daemon.remove("/v1/drain").json()["status"] == "ok");
  CHECK(daemon.run(shell("echo again"))["result"]["stdout"] == "again\n");
  CHECK(daemon.remove("/v1/drain").status == 400);
}

TEST_CASE("a drain that is cancelled leaves the runs alone, and its client is told") {
  const DaemonFixture daemon;
  const std::string id = daemon.start(shell("sleep 0.8; echo whole"));
  daemon.wait_until_started(id);
  HttpConnection drain(daemon.socket());
  drain.send_request("POST", "/v1/drain", R"({"deadline_seconds": 0.4})");
  REQUIRE(eventually([&] { return daemon.health("status") == "draining"; }));
  CHECK(daemon.remove("/v1/drain").status == 200);
  CHECK(drain.receive_reply().json()["cancelled"] == true);
  CHECK(daemon.finished(id)["result"]["stdout"] == "whole\n");
}

TEST_CASE("SIGTERM ends a daemon that has been drained, and one that is draining") {
  const bool over = GENERATE(true, false);
  DaemonFixture daemon({.config = "[limits]\ndrain_seconds = 0.3\n"});
  HttpConnection drain(daemon.socket());
  if (!over) daemon.wait_until_started(daemon.start(shell("sleep 60")));
  drain.send_request("POST", "/v1/drain", R"({"deadline_seconds": 60})");
  if (over) CHECK(drain.receive_reply().status == 200);
  REQUIRE(eventually([&] { return daemon.health("status") == "draining"; }));
  const auto begin = steady_clock::now();
  daemon.signal(SIGTERM);
  if (!over) CHECK(drain.receive_reply().json()["killed"] == 1);
  CHECK(daemon.wait_for_end().exit_status == 0);
  CHECK(steady_clock::now() - begin < seconds(5));
}

TEST_CASE("once the daemon is told to end, a drain cannot be cancelled") {
  DaemonFixture daemon;
  const std::string id = daemon.start(shell("sleep 1"));
  daemon.wait_until_started(id);
  daemon.signal(SIGTERM);
  REQUIRE(eventually([&] { return daemon.health("status") == "draining"; }));
  const HttpReply refused = daemon.remove("/v1/drain");
  CHECK(refused.status == 503);
  CHECK(refused.error_code() == "draining");
  CHECK(daemon.wait_for_end().exit_status == 0);
}

TEST_CASE("a drain goes on when the client that asked for it goes away") {
  const DaemonFixture daemon;
  const std::string id = daemon.start(shell("sleep 60"));
  daemon.wait_until_started(id);
  {
    HttpConnection drain(daemon.socket());
    drain.send_request("POST", "/v1/drain", R"({"deadline_seconds": 0.5})");
    REQUIRE(eventually([&] { return daemon.health("status") == "draining"; }));
  }
  CHECK(daemon.finished(id)["result"]["cause"] == "shutdown");
}

TEST_CASE("a drain of no time at all stops what runs at once, and a bad deadline starts nothing") {
  const DaemonFixture daemon;
  for (const char* body : {R"({"deadline_seconds": -1})", R"({"deadline_seconds": "soon"})",
                           R"({"deadline": 5})", R"([])", "{"}) {
    INFO(body);
    HttpConnection connection(daemon.socket());
    connection.send_request("POST", "/v1/drain", body);
    CHECK(connection.receive_reply().status == 400);
  }
  CHECK(daemon.health("status") == "ok");
  const std::string id = daemon.start(shell("sleep 60"));
  daemon.wait_until_started(id);
  CHECK(daemon.post("/v1/drain", {{"deadline_seconds", 0}}).json()["killed"] == 1);
}
