// Detached runs: looked at, listed, waited for and killed by their id.

#include <csignal>
#include <memory>

#include "support/daemon_fixture.hpp"

using nlohmann::json;
using std::chrono::steady_clock;

namespace {

double seconds_since(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

std::vector<std::string> ids(const HttpReply& reply) {
  std::vector<std::string> all;
  const json runs = reply.json()["runs"];
  for (const json& run : runs) all.push_back(run["id"]);
  return all;
}

}  // namespace

TEST_CASE("a detached run is answered at once and found by its id until it ends") {
  const DaemonFixture daemon;
  json request = shell("sleep 0.3; echo done");
  request["detach"] = true;
  const HttpReply reply = daemon.post("/v1/runs", request);
  CHECK(reply.status == 202);
  const std::string id = reply.json()["id"];
  CHECK(reply.json()["state"] == "queued");
  CHECK_FALSE(reply.json().contains("result"));
  daemon.wait_until_started(id);
  const json running = daemon.get("/v1/runs/" + id).json();
  CHECK(running["state"] == "running");
  CHECK_FALSE(running.contains("result"));
  const json over = daemon.finished(id);
  CHECK(over["state"] == "finished");
  CHECK(over["result"]["stdout"] == "done\n");
}

TEST_CASE("waiting for a run ends with its end or when the time is up, whichever is first") {
  const DaemonFixture daemon;
  const std::string slow = daemon.start(shell("sleep 300"));
  auto begin = steady_clock::now();
  const HttpReply reply = daemon.get("/v1/runs/" + slow + "?wait_seconds=1");
  CHECK(seconds_since(begin) >= 0.95);
  CHECK(seconds_since(begin) < 5);
  CHECK(reply.status == 200);
  CHECK(reply.json()["state"] == "running");

  const std::string quick = daemon.start(shell("sleep 0.2"));
  begin = steady_clock::now();
  CHECK(daemon.get("/v1/runs/" + quick + "?wait_seconds=60").json()["state"] == "finished");
  CHECK(seconds_since(begin) < 10);
  CHECK(daemon.get("/v1/runs/" + quick + "?wait_seconds=60").json()["state"] == "finished");

  for (const char* wrong : {"-1", "1.5", "", "abc", "3601", "99999999999999999999"}) {
    INFO(wrong);
    const HttpReply refused = daemon.get("/v1/runs/" + quick + "?wait_seconds=" + wrong);
    CHECK(refused.status == 400);
    CHECK(refused.error_message().find("wait_seconds: must be") != std::string::npos);
  }
}

TEST_CASE("several clients can wait for one run, and one that leaves does not end it") {
  const DaemonFixture daemon;
  const std::string id = daemon.start(shell("sleep 0.5; echo end"));
  std::vector<std::unique_ptr<HttpConnection>> waiting;
  for (int i = 0; i < 5; ++i) {
    waiting.push_back(std::make_unique<HttpConnection>(daemon.socket()));
    waiting.back()->send_request("GET", "/v1/runs/" + id + "?wait_seconds=30");
  }
  waiting.front()->vanish();
  for (std::size_t i = 1; i < waiting.size(); ++i)
    CHECK(waiting[i]->receive_reply().json()["result"]["stdout"] == "end\n");
}

TEST_CASE("the list is newest first, without output, and can be narrowed") {
  const DaemonFixture daemon({.config = "[limits]\nruns_alive = 1\n"});
  const std::string first = daemon.start(shell("echo text"));
  daemon.finished(first);
  const std::string second = daemon.start(shell("sleep 300"));
  daemon.wait_until_started(second);
  const std::string third = daemon.start(shell("true"));

  using Ids = std::vector<std::string>;
  CHECK(ids(daemon.get("/v1/runs")) == Ids{third, second, first});
  CHECK(ids(daemon.get("/v1/runs?limit=2")) == Ids{third, second});
  CHECK(ids(daemon.get("/v1/runs?limit=0")).empty());
  CHECK(ids(daemon.get("/v1/runs?state=queued")) == Ids{third});
  CHECK(ids(daemon.get("/v1/runs?state=running")) == Ids{second});
  CHECK(ids(daemon.get("/v1/runs?state=finished&limit=5")) == Ids{first});
  const json finished = daemon.get("/v1/runs?state=finished").json()["runs"][0];
  CHECK(finished["result"]["stdout_bytes"] == 5);
  CHECK_FALSE(finished["result"].contains("stdout"));
  CHECK(daemon.get("/v1/runs?state=dead").status == 400);
  CHECK(daemon.get("/v1/runs?limit=1001").status == 400);
  CHECK(daemon.get("/v1/runs?limit=x").status == 400);
}

TEST_CASE("an unknown id is not found, whatever is asked of it") {
  const DaemonFixture daemon;
  for (const char* id : {"r-0123456789abcdef", "x", "%2e%2e", "a%2fb"}) {
    const std::string target = std::string("/v1/runs/") + id;
    INFO(target);
    CHECK(daemon.get(target).error_code() == "not_found");
    CHECK(daemon.remove(target).status == 404);
    CHECK(daemon.get(target + "?wait_seconds=3").status == 404);
  }
}

TEST_CASE("a run can be killed while it is queued, while it runs, and after its end") {
  const DaemonFixture daemon({.config = "[limits]\nruns_alive = 1\n"});
  const std::string marker = unique_marker();
  const std::string running = daemon.start(shell("sleep 300; : " + marker));
  daemon.wait_until_started(running);
  const std::string queued = daemon.start(shell("echo never"));

  CHECK(daemon.remove("/v1/runs/" + queued).status == 202);
  const json never = daemon.finished(queued);
  CHECK(never["result"]["cause"] == "killed_by_request");
  CHECK(never["result"]["killed"] == true);
  CHECK(never["result"]["stdout"] == "");
  CHECK(never["confinement"].contains("pid") == false);

  CHECK(daemon.remove("/v1/runs/" + running).status == 202);
  const json killed = daemon.finished(running);
  CHECK(killed["result"]["cause"] == "killed_by_request");
  CHECK(killed["result"]["signal"] == SIGTERM);
  CHECK(killed["result"]["exit_code"] == -SIGTERM);
  CHECK(processes_with(marker).empty());

  CHECK(daemon.remove("/v1/runs/" + running).status == 200);
  CHECK(daemon.get("/v1/runs/" + running).json() == killed);
}

TEST_CASE("a run that ignores TERM is killed after its grace, with all that it started") {
  const DaemonFixture daemon;
  const std::string marker = unique_marker();
  const std::string id = daemon.start(
      shell("trap '' TERM; setsid " + marked_sleeper(marker) + " & while :; do sleep 0.1; done"));
  // The shell itself, whose script names it, and its child.
  REQUIRE(eventually([&] { return processes_with(marker).size() >= 2; }));
  const auto begin = steady_clock::now();
  CHECK(daemon.remove("/v1/runs/" + id).status == 202);
  const json result = daemon.finished(id)["result"];
  CHECK(result["cause"] == "killed_by_request");
  CHECK(result["exit_code"] == -SIGKILL);
  CHECK(seconds_since(begin) > 0.9);
  CHECK(seconds_since(begin) < 4);
  CHECK(processes_with(marker).empty());
}

TEST_CASE("a detached run outlives its client") {
  const DaemonFixture daemon;
  std::string id;
  {
    HttpConnection connection(daemon.socket());
    json request = shell("sleep 0.3; echo alone");
    request["detach"] = true;
    connection.send_request("POST", "/v1/runs", request.dump());
    id = connection.receive_reply().json()["id"];
  }
  CHECK(daemon.finished(id)["result"]["stdout"] == "alone\n");
}

TEST_CASE("finished runs are remembered whole up to a number, older ones as the ledger has them") {
  const DaemonFixture daemon({.config = "[limits]\nruns_finished = 3\n"});
  std::vector<std::string> all;
  for (int i = 0; i < 5; ++i) {
    all.push_back(daemon.start(shell("echo " + std::to_string(i))));
    daemon.finished(all.back());
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto result = daemon.get("/v1/runs/" + all[i]).json()["result"];
    CHECK(result.contains("stdout") == (i >= 2));
    CHECK(result.contains("stdout_tail") == (i < 2));
  }
  CHECK(ids(daemon.get("/v1/runs")) == std::vector<std::string>(all.rbegin(), all.rend()));
}
