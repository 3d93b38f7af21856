// Many runs at once, and more than there is room for.

#include <memory>

#include "support/daemon_fixture.hpp"

using nlohmann::json;

namespace {

using Connections = std::vector<std::unique_ptr<HttpConnection>>;

Connections submit(const DaemonFixture& daemon, std::size_t count, const std::string& script) {
  Connections connections;
  for (std::size_t i = 0; i < count; ++i) {
    connections.push_back(std::make_unique<HttpConnection>(daemon.socket()));
    connections.back()->send_request("POST", "/v1/runs",
                                     shell(script + "; echo " + std::to_string(i)).dump());
  }
  return connections;
}

}  // namespace

TEST_CASE("a hundred concurrent runs each get their own result") {
  const DaemonFixture daemon({.config = "[limits]\nruns_alive = 100\n"});
  const Connections connections = submit(daemon, 100, "sleep 1");
  CHECK(eventually([&] { return daemon.health("runs_alive").get<int>() > 20; }));
  for (std::size_t i = 0; i < connections.size(); ++i) {
    const json run = connections[i]->receive_reply().json();
    CHECK(run["result"]["stdout"] == std::to_string(i) + "\n");
    CHECK(run["result"]["cause"] == "exited");
  }
  CHECK(daemon.get("/v1/runs?limit=1000").json()["runs"].size() == 100);
}

TEST_CASE("no more runs are alive than allowed, and the queue is served in its order") {
  const DaemonFixture daemon({.config = "[limits]\nruns_alive = 2\n"});
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) ids.push_back(daemon.start(shell("sleep 0.2; date +%s%N")));
  std::string before = "0";
  for (std::size_t i = 0; i < ids.size(); ++i) {
    CHECK(daemon.health("runs_alive").get<int>() <= 2);
    const json run = daemon.finished(ids[i]);
    CHECK(run["state"] == "finished");
    // Two at a time: the third waited for one of the first two, the fifth for one of the next.
    CHECK(run["queue_ms"].get<int>() >= static_cast<int>(i / 2) * 200 - 5);
  }
}

TEST_CASE("a full queue is answered with 429 and when to try again, and takes runs later") {
  const DaemonFixture daemon({.config = "[limits]\nruns_alive = 1\nruns_queued = 2\n"});
  const std::string running = daemon.start(shell("sleep 300"));
  daemon.wait_until_started(running);
  daemon.start(shell("true"));
  const std::string last = daemon.start(shell("true"));
  for (const bool detach : {true, false}) {
    json request = shell("true");
    request["detach"] = detach;
    const HttpReply reply = daemon.post("/v1/runs", request);
    CHECK(reply.status == 429);
    CHECK(reply.error_code() == "too_busy");
    CHECK(reply.header("Retry-After") == "1");
  }
  json streamed = shell("true");
  streamed["stream"] = true;
  CHECK(daemon.post("/v1/runs", streamed).status == 429);
  CHECK(daemon.remove("/v1/runs/" + running).status == 202);
  CHECK(daemon.finished(last)["result"]["exit_code"] == 0);
  CHECK(daemon.run(shell("true"))["result"]["exit_code"] == 0);
}

// Goal: a burst that alive and queue together can hold is taken whole. Method: it comes in one
// write, so that the daemon has all of it before it has started any.
TEST_CASE("a burst is not refused while there is room for it") {
  const DaemonFixture daemon({.config = "[limits]\nruns_alive = 4\nruns_queued = 1\n"});
  HttpConnection connection(daemon.socket());
  json request = shell("sleep 0.5");
  request["detach"] = true;
  for (int i = 0; i < 5; ++i) connection.send_request("POST", "/v1/runs", request.dump());
  for (int i = 0; i < 5; ++i) CHECK(connection.receive_reply().status == 202);
  CHECK(eventually([&] { return daemon.health("runs_alive") == 0; }));
}

TEST_CASE("all live runs can be killed together") {
  const DaemonFixture daemon;
  const std::string marker = unique_marker();
  std::vector<std::string> ids;
  for (int i = 0; i < 30; ++i) ids.push_back(daemon.start(shell(marked_sleeper(marker))));
  CHECK(eventually([&] { return processes_with(marker).size() >= 60; }));
  for (const std::string& id : ids) CHECK(daemon.remove("/v1/runs/" + id).status == 202);
  CHECK(eventually([&] { return daemon.health("runs_alive") == 0; }));
  CHECK(processes_with(marker).empty());
}
