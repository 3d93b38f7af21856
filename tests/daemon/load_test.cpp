// Many runs at once, and more than there is room for.

#include <sys/resource.h>

#include <filesystem>
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

std::size_t descriptors_of(const DaemonFixture& daemon) {
  const std::filesystem::directory_iterator all("/proc/" + std::to_string(daemon.pid()) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
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
  const DaemonFixture daemon({.config = "[limits]\nruns_alive = 1\n"});
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) ids.push_back(daemon.start(shell("sleep 0.1; date +%s%N")));
  std::string before;
  for (const std::string& id : ids) {
    CHECK(daemon.health("runs_alive").get<int>() <= 1);
    const std::string time = daemon.finished(id)["result"]["stdout"];
    CHECK(time > before);  // as many digits, so as text too
    before = time;
  }
  CHECK(daemon.finished(ids.back())["queue_ms"].get<int>() >= 100);
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

TEST_CASE("no descriptor of a run or a client stays open") {
  const DaemonFixture daemon;
  daemon.run(shell("true"));
  const auto settled = [&] { return daemon.health("runs_alive") == 0; };
  REQUIRE(eventually(settled));
  const std::size_t before = descriptors_of(daemon);
  for (int i = 0; i < 10; ++i) {
    HttpConnection vanishing(daemon.socket());
    json request = shell("sleep 300");
    request["stream"] = i % 2 == 0;
    vanishing.send_request("POST", "/v1/runs", request.dump());
    daemon.run({{"profile", "OFF"}, {"argv", {"/no/such/program"}}});
    daemon.run({{"profile", "DEFAULT"}, {"argv", {"cat"}}, {"stdin", "x"}});
  }
  REQUIRE(eventually(settled));
  // The last answered connection may still be on its way out.
  CHECK(eventually([&] { return descriptors_of(daemon) <= before; }));
}

// Goal: running out of descriptors fails runs, one by one and with their reason, not the daemon.
TEST_CASE("a daemon without descriptors for more runs fails those and serves on") {
  const auto few_descriptors = [] {
    const rlimit limit{.rlim_cur = 256, .rlim_max = 256};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  };
  const DaemonFixture daemon(
      {.config = "[limits]\nruns_alive = 100\n", .in_child = few_descriptors});
  CHECK(daemon.log().find("raise LimitNOFILE") != std::string::npos);
  std::vector<std::string> ids;
  for (int i = 0; i < 70; ++i) ids.push_back(daemon.start(shell("sleep 2; echo x")));
  std::size_t served = 0;
  for (const std::string& id : ids) {
    const json result = daemon.finished(id)["result"];
    if (result["cause"] == "exited") {
      CHECK(result["stdout"] == "x\n");
      ++served;
      continue;
    }
    INFO(result.dump());
    // As far as the daemon's own share of the work, or as far as the child's.
    CHECK((result["cause"] == "internal" || result["cause"] == "cannot_isolate"));
    CHECK(result["detail"].get<std::string>().find("Too many open files") != std::string::npos);
  }
  CHECK(served >= 10);
  CHECK(served < ids.size());
  CHECK(daemon.run(shell("echo y"))["result"]["stdout"] == "y\n");
}
