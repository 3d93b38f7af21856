// GET /metrics of the real daemon, config_stale and the log.

#include <algorithm>
#include <csignal>
#include <sstream>

#include "support/daemon_fixture.hpp"

using nlohmann::json;

namespace {

// The value of a sample; -1 if it is not there.
double sample(const DaemonFixture& daemon, const std::string& name_and_labels) {
  std::istringstream text(daemon.get("/metrics").body);
  for (std::string line; std::getline(text, line);)
    if (line.starts_with(name_and_labels + " "))
      return std::stod(line.substr(name_and_labels.size() + 1));
  return -1;
}

std::size_t series(const DaemonFixture& daemon) {
  std::istringstream text(daemon.get("/metrics").body);
  std::size_t count = 0;
  for (std::string line; std::getline(text, line);) count += !line.starts_with("#");
  return count;
}

}  // namespace

TEST_CASE("metrics count runs by how they ended, refusals by their reason, and times") {
  const DaemonFixture daemon;
  const HttpReply reply = daemon.get("/metrics");
  CHECK(reply.status == 200);
  CHECK(reply.header("Content-Type").starts_with("text/plain; version=0.0.4"));
  daemon.run(shell("exit 3"));
  json late = shell("sleep 30");
  late["limits"] = {{"wall_seconds", 0.2}};
  daemon.run(late);
  CHECK(daemon.post("/v1/runs", {{"profile", "NOPE"}, {"argv", {"true"}}}).status == 404);
  CHECK(sample(daemon,
               "paddock_runs_total{cause=\"exited\",profile=\"OFF\",tenant_class=\"default\"}") ==
        1);
  CHECK(
      sample(daemon,
             "paddock_runs_total{cause=\"wall_clock\",profile=\"OFF\",tenant_class=\"default\"}") ==
      1);
  CHECK(sample(daemon, "paddock_runs_refused_total{reason=\"unknown_profile\"}") == 1);
  CHECK(sample(daemon, "paddock_run_setup_seconds_count") == 2);
  CHECK(sample(daemon, "paddock_run_queue_seconds_count") == 2);
  CHECK(sample(daemon, "paddock_run_kill_seconds_count") == 1);
  CHECK(sample(daemon, "paddock_ledger_commit_seconds_count") >= 6);
  CHECK(sample(daemon, "paddock_ledger_writing") == 1);
  CHECK(sample(daemon, "paddock_runs_alive") == 0);

  const std::string id = daemon.start(shell("sleep 30"));
  daemon.wait_until_started(id);
  CHECK(sample(daemon, "paddock_runs_alive") == 1);
}

TEST_CASE("the number of series stays the same however many runs there are") {
  const DaemonFixture daemon;
  daemon.run(shell("true"));
  const std::size_t before = series(daemon);
  for (int i = 0; i < 30; ++i) daemon.run({{"profile", "OFF"}, {"argv", {"/bin/echo", "x"}}});
  CHECK(series(daemon) == before);
}

TEST_CASE(
    "a failed reload raises config_stale everywhere, until one succeeds, and both are events") {
  const DaemonFixture daemon({.profiles = {{"mine.toml", "name = \"MINE\"\n"}}});
  CHECK(sample(daemon, "paddock_config_stale") == 0);
  daemon.directory().write("profiles/mine.toml", "name = \"MINE\"\nnmae = 1\n");
  const HttpReply bad = daemon.post("/v1/reload");
  CHECK(bad.error_message() == "1 mistake; the profiles and agents that were in force stay");
  CHECK(sample(daemon, "paddock_config_stale") == 1);
  CHECK(daemon.health("config_stale") == true);
  daemon.directory().write("profiles/mine.toml", "name = \"MINE\"\n");
  CHECK(daemon.post("/v1/reload").status == 200);
  CHECK(sample(daemon, "paddock_config_stale") == 0);
  // Nobody waits for their commit.
  CHECK(eventually([&] {
    const std::string events = daemon.get("/v1/events?kind=config.").body;
    return events.find("\"config.reloaded\"") != std::string::npos &&
           events.find("\"config.reload_failed\"") < events.find("\"config.reloaded\"");
  }));
}

TEST_CASE("explain tells which limit ended a run, and what to change") {
  const DaemonFixture daemon;
  json late = shell("sleep 30");
  late["limits"] = {{"wall_seconds", 0.2}};
  const std::string id = daemon.run(late)["id"];
  const json text = daemon.get("/v1/runs/" + id + "/explain").json();
  INFO(text.dump());
  CHECK(text["cause"] == "wall_clock");
  CHECK(text["needed"] == true);
  CHECK(text["limit"].get<std::string>().find("wall_seconds, 200ms") != std::string::npos);
  CHECK(text["observed"].get<std::string>().find("waiting") != std::string::npos);
  const std::string good = daemon.run(shell("true"))["id"];
  CHECK(daemon.get("/v1/runs/" + good + "/explain").json()["needed"] == false);
  CHECK(daemon.get("/v1/runs/r-0000000000000000/explain").status == 404);
}

TEST_CASE("a run that the daemon has forgotten is explained from the ledger") {
  const DaemonFixture daemon({.config = "[limits]\nruns_finished = 1\n"});
  json late = shell("sleep 30");
  late["limits"] = {{"wall_seconds", 0.2}};
  const std::string id = daemon.run(late)["id"];
  const json before = daemon.get("/v1/runs/" + id + "/explain").json();
  daemon.run(shell("true"));
  daemon.run(shell("true"));
  const json after = daemon.get("/v1/runs/" + id + "/explain").json();
  CHECK(after["limit"] == before["limit"]);
  CHECK(after["change"] == before["change"]);
}

TEST_CASE("an unknown query parameter is refused with the nearest name") {
  const DaemonFixture daemon;
  const HttpReply reply = daemon.get("/v1/runs?stat=running");
  CHECK(reply.status == 400);
  CHECK(reply.error_message() == "unknown query parameter 'stat'; did you mean 'state'?");
  CHECK(daemon.get("/health?verbose=1").error_message() ==
        "unknown query parameter 'verbose'; this call has none");
  CHECK(daemon.post("/v1/runs?detach=true", shell("true")).status == 400);
  CHECK(daemon.get("/v1/profiles/STRCT").error_message().find("did you mean 'STRICT'?") !=
        std::string::npos);
}

TEST_CASE("live runs are listed with what they use now") {
  const DaemonFixture daemon;
  const std::string id =
      daemon.start(shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 30"));
  daemon.wait_until_started(id);
  CHECK(eventually([&] {
    const json run = daemon.get("/v1/runs?state=running").json()["runs"][0];
    return run.contains("usage") && run["usage"]["cpu_us"] > 0 && run["usage"]["memory_bytes"] > 0;
  }));
  CHECK_FALSE(daemon.get("/v1/runs").json()["runs"][0].contains("usage"));
}
