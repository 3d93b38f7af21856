// /healthz and /readyz: what a load balancer and a service manager ask.

#include <csignal>

#include "support/daemon_fixture.hpp"

using nlohmann::json;

TEST_CASE("healthz answers while the loop turns, also when everything else is refused") {
  const DaemonFixture daemon({.config = "[limits]\nruns_alive = 1\nruns_queued = 1\n"});
  CHECK(daemon.get("/healthz").status == 200);
  CHECK(daemon.get("/healthz").body == "ok\n");
  CHECK(http(daemon.socket(), "POST", "/healthz").status == 405);
}

TEST_CASE("readyz runs a canary, once for everybody, and no trace of it is in the list of runs") {
  const DaemonFixture daemon;
  const HttpReply first = daemon.get("/readyz");
  INFO(first.body);
  CHECK(first.status == 200);
  CHECK(first.json()["ready"] == true);
  CHECK(first.json()["profile"] == (sandbox_works() ? "STRICT" : "DEFAULT"));
  CHECK(first.json()["verify"] == "ok");
  CHECK(daemon.get("/readyz").status == 200);
  CHECK(daemon.get("/v1/runs").json()["runs"].empty());
  const std::string metrics = daemon.get("/metrics").body;
  INFO(metrics);
  CHECK(metrics.find("cause=\"exited\"") != std::string::npos);
  // Its own run, and a candidate and a judge for each of its two items: once, not twice.
  CHECK(metrics.find("tenant_class=\"default\"} 5\n") != std::string::npos);
  CHECK(metrics.find("paddock_verdicts_total{") == std::string::npos);
  CHECK(daemon.get("/v1/feed").body.empty());
}

TEST_CASE("a daemon that drains is not ready, and ready again after the drain is cancelled") {
  const DaemonFixture daemon;
  CHECK(daemon.post("/v1/drain", {{"deadline_seconds", 5}}).status == 200);
  const HttpReply drained = daemon.get("/readyz");
  CHECK(drained.status == 503);
  CHECK(drained.json()["ready"] == false);
  CHECK(drained.json()["reason"] == "draining");
  CHECK(daemon.get("/healthz").status == 200);
  CHECK(daemon.remove("/v1/drain").status == 200);
  CHECK(daemon.get("/readyz").status == 200);
}

TEST_CASE("canaries take no place of runs in a list that is read from the ledger") {
  DaemonFixture daemon;
  const std::string first = daemon.run(shell("true"))["id"];
  const std::string second = daemon.run(shell("true"))["id"];
  REQUIRE(daemon.get("/readyz").status == 200);
  daemon.signal(SIGTERM);
  daemon.wait_for_end();
  daemon.start_again();
  const json newest = daemon.get("/v1/runs?limit=1").json()["runs"];
  REQUIRE(newest.size() == 1);
  CHECK(newest[0]["id"] == second);
  const json both = daemon.get("/v1/runs").json()["runs"];
  REQUIRE(both.size() == 2);
  CHECK(both[1]["id"] == first);
}
