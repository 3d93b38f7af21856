// SIGTERM, SIGINT and SIGKILL: runs may finish, then they are stopped, and nothing survives.

#include <csignal>
#include <thread>

#include "support/daemon_fixture.hpp"

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

namespace {

// Started and past its first line of output, on a connection that waits for the result.
struct WaitingClient {
  WaitingClient(const DaemonFixture& daemon, const json& request) : connection(daemon.socket()) {
    connection.send_request("POST", "/v1/runs", request.dump());
    REQUIRE(eventually([&] { return daemon.health("runs_alive") == 1; }));
    const std::string id = daemon.get("/v1/runs").json()["runs"][0]["id"];
    daemon.wait_until_started(id);
  }
  json result() { return connection.receive_reply().json()["result"]; }

  HttpConnection connection;
};

}  // namespace

TEST_CASE("SIGTERM lets what runs finish, ends what waits, and takes nothing new") {
  DaemonFixture daemon({.config = "[limits]\nruns_alive = 1\n"});
  WaitingClient running(daemon, shell("sleep 1; echo finished"));
  HttpConnection queued(daemon.socket());
  queued.send_request("POST", "/v1/runs", shell("echo never").dump());
  REQUIRE(eventually([&] { return daemon.health("runs_queued") == 1; }));

  daemon.signal(SIGTERM);
  const json never = queued.receive_reply().json()["result"];
  CHECK(never["cause"] == "shutdown");
  CHECK(never["stdout"] == "");
  CHECK(daemon.health("status") == "draining");
  const HttpReply refused = daemon.post("/v1/runs", shell("true"));
  CHECK(refused.status == 503);
  CHECK(refused.error_code() == "draining");

  const json result = running.result();
  CHECK(result["cause"] == "exited");
  CHECK(result["stdout"] == "finished\n");
  CHECK(daemon.wait_for_end().exit_status == 0);
  CHECK(::access(daemon.socket().c_str(), F_OK) != 0);
}

TEST_CASE("SIGINT drains too") {
  DaemonFixture daemon;
  WaitingClient running(daemon, shell("sleep 0.3; echo finished"));
  daemon.signal(SIGINT);
  CHECK(running.result()["stdout"] == "finished\n");
  CHECK(daemon.wait_for_end().exit_status == 0);
}

TEST_CASE("an idle daemon ends at once on SIGTERM") {
  DaemonFixture daemon;
  const auto begin = steady_clock::now();
  daemon.signal(SIGTERM);
  CHECK(daemon.wait_for_end().exit_status == 0);
  CHECK(steady_clock::now() - begin < seconds(2));
}

TEST_CASE("a drain has a deadline: then runs are stopped, and their clients are told") {
  DaemonFixture daemon({.config = "[limits]\ndrain_seconds = 0.3\n"});
  const std::string marker = unique_marker();
  WaitingClient running(daemon, shell(marked_sleeper(marker)));
  const auto begin = steady_clock::now();
  daemon.signal(SIGTERM);
  const json result = running.result();
  CHECK(result["cause"] == "shutdown");
  CHECK(result["killed"] == true);
  CHECK(steady_clock::now() - begin >= milliseconds(280));
  CHECK(daemon.wait_for_end().exit_status == 0);
  CHECK(steady_clock::now() - begin < seconds(5));
  CHECK(processes_with(marker).empty());
}

TEST_CASE("the drain deadline gives a run its grace, and no longer") {
  DaemonFixture daemon({.config = "[limits]\ndrain_seconds = 0.1\n"});
  WaitingClient running(daemon,
                        shell("trap 'echo asked; exit 3' TERM; while :; do sleep 0.05; done"));
  daemon.signal(SIGTERM);
  const json result = running.result();
  CHECK(result["cause"] == "shutdown");
  CHECK(result["stdout"] == "asked\n");
  CHECK(result["exit_code"] == 3);
  CHECK(daemon.wait_for_end().exit_status == 0);
}

// Goal: an operator who asks twice does not wait for a grace, however long the profile's is.
TEST_CASE("a second SIGTERM kills at once, and the clients still hear of it") {
  DaemonFixture daemon(
      {.profiles = {{"patient.toml", "name = \"PATIENT\"\n[limits]\ngrace_seconds = 600\n"}}});
  const std::string marker = unique_marker();
  WaitingClient running(
      daemon,
      shell("trap '' TERM; setsid " + marked_sleeper(marker) + " & wait; sleep 300", "PATIENT"));
  const auto begin = steady_clock::now();
  daemon.signal(SIGTERM);
  REQUIRE(eventually([&] { return daemon.health("status") == "draining"; }));
  daemon.signal(SIGTERM);
  CHECK(running.result()["cause"] == "shutdown");
  CHECK(daemon.wait_for_end().exit_status == 0);
  CHECK(steady_clock::now() - begin < seconds(4));
  CHECK(processes_with(marker).empty());
}

TEST_CASE("a second SIGTERM also ends a run that is already being asked to stop") {
  DaemonFixture daemon(
      {.profiles = {{"patient.toml", "name = \"PATIENT\"\n[limits]\ngrace_seconds = 600\n"}}});
  WaitingClient running(daemon, shell("trap '' TERM; while :; do sleep 0.1; done", "PATIENT"));
  const std::string id = daemon.get("/v1/runs").json()["runs"][0]["id"];
  CHECK(daemon.remove("/v1/runs/" + id).status == 202);
  daemon.signal(SIGTERM);
  REQUIRE(eventually([&] { return daemon.health("status") == "draining"; }));
  daemon.signal(SIGTERM);
  CHECK(running.result()["cause"] == "killed_by_request");
  CHECK(daemon.wait_for_end(seconds(5)).exit_status == 0);
}

// Goal: whatever is open when the daemon is made to end in a hurry, it ends in order. Method: a
// run, a stream, a client that waits for a detached run, and many signals (those that arrive
// together count once); the shorter the time between them, the more is still there at the third.
TEST_CASE("a daemon that is signalled again and again ends in order with everything open") {
  const int pause_ms = GENERATE(2, 4, 20);
  DaemonFixture daemon(
      {.profiles = {{"patient.toml", "name = \"PATIENT\"\n[limits]\ngrace_seconds = 600\n"}}});
  const std::string marker = unique_marker();
  const json request =
      shell("trap '' TERM; setsid " + marked_sleeper(marker) + " & while :; do sleep 0.1; done",
            "PATIENT");
  const std::string id = daemon.start(request);
  daemon.wait_until_started(id);
  HttpConnection waiting(daemon.socket());
  waiting.send_request("GET", "/v1/runs/" + id + "?wait_seconds=100");
  HttpConnection stream(daemon.socket());
  json streamed = request;
  streamed["stream"] = true;
  stream.send_request("POST", "/v1/runs", streamed.dump());
  CHECK(stream.receive_head().status == 200);
  CHECK(stream.receive_event()["event"] == "started");
  for (int i = 0; i < 30; ++i) {
    daemon.signal(SIGTERM);
    std::this_thread::sleep_for(milliseconds(pause_ms));
  }
  const Ended ended = daemon.wait_for_end();
  INFO(daemon.log());
  CHECK(ended.exit_status == 0);
  CHECK(processes_with(marker).empty());
}

TEST_CASE("when the daemon is SIGKILLed, nothing of any run survives it") {
  std::vector<std::string> profiles = {"OFF", "DEFAULT"};
  if (sandbox_works()) profiles.emplace_back("STRICT");
  DaemonFixture daemon;
  std::vector<std::string> markers;
  for (const std::string& profile : profiles) {
    markers.push_back(unique_marker());
    const std::string sleeper = marked_sleeper(markers.back());
    // A child, one in a session of its own, one whose parent is gone, and a deaf one.
    daemon.start(shell(sleeper + " & setsid " + sleeper + " & (setsid " + sleeper +
                           " &) ; trap '' TERM HUP INT; " + sleeper,
                       profile));
  }
  for (const std::string& marker : markers)
    REQUIRE(eventually([&] { return processes_with(marker).size() >= 5; }));
  daemon.signal(SIGKILL);
  CHECK(daemon.wait_for_end().signal == SIGKILL);
  for (const std::string& marker : markers) {
    INFO(marker);
    CHECK(eventually([&] { return processes_with(marker).empty(); }, seconds(5)));
  }
}

TEST_CASE("a daemon that is SIGKILLed in the middle of many starts leaves nothing") {
  const std::string marker = unique_marker();
  DaemonFixture daemon;
  for (int i = 0; i < 20; ++i)
    daemon.start(shell(marked_sleeper(marker), sandbox_works() && i % 2 == 0 ? "STRICT" : "OFF"));
  daemon.signal(SIGKILL);
  CHECK(daemon.wait_for_end().signal == SIGKILL);
  CHECK(eventually([&] { return processes_with(marker).empty(); }, seconds(5)));
}
