// /healthz and /readyz: what a load balancer and a service manager ask.

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
  CHECK(daemon.get("/readyz").status == 200);
  CHECK(daemon.get("/v1/runs").json()["runs"].empty());
  const std::string metrics = daemon.get("/metrics").body;
  INFO(metrics);
  CHECK(metrics.find("cause=\"exited\"") != std::string::npos);
  CHECK(metrics.find("tenant_class=\"default\"} 1\n") != std::string::npos);  // one, not two
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
