// Clients that leave, that half-close, that pipeline, that read slowly.

#include <poll.h>
#include <unistd.h>

#include <thread>

#include "support/daemon_fixture.hpp"

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

TEST_CASE("when the client of a waiting run vanishes, the run is killed") {
  const DaemonFixture daemon;
  const std::string marker = unique_marker();
  HttpConnection connection(daemon.socket());
  connection.send_request("POST", "/v1/runs", shell(marked_sleeper(marker)).dump());
  REQUIRE(eventually([&] { return !processes_with(marker).empty(); }));
  connection.vanish();
  CHECK(eventually([&] { return processes_with(marker).empty(); }));
  // Its slot is free before its outcome is recorded.
  CHECK(eventually([&] { return daemon.health("runs_alive") == 0; }));
  const json run = daemon.finished(daemon.get("/v1/runs").json()["runs"][0]["id"]);
  CHECK(run["result"]["cause"] == "killed_by_request");
}

TEST_CASE("when the client of a stream vanishes, the run is killed") {
  const DaemonFixture daemon;
  const std::string marker = unique_marker();
  HttpConnection connection(daemon.socket());
  json request = shell(marked_sleeper(marker));
  request["stream"] = true;
  connection.send_request("POST", "/v1/runs", request.dump());
  CHECK(connection.receive_head().status == 200);
  REQUIRE(eventually([&] { return !processes_with(marker).empty(); }));
  connection.vanish();
  CHECK(eventually([&] { return processes_with(marker).empty(); }));
}

TEST_CASE("when the client of a queued run vanishes, it never starts") {
  const DaemonFixture daemon({.config = "[limits]\nruns_alive = 1\n"});
  const std::string first = daemon.start(shell("sleep 300"));
  daemon.wait_until_started(first);
  HttpConnection connection(daemon.socket());
  connection.send_request("POST", "/v1/runs", shell("echo never").dump());
  REQUIRE(eventually([&] { return daemon.health("runs_queued") == 1; }));
  connection.vanish();
  CHECK(eventually([&] { return daemon.health("runs_queued") == 0; }));
  const json run = daemon.finished(daemon.get("/v1/runs?limit=1").json()["runs"][0]["id"]);
  CHECK(run["result"]["cause"] == "killed_by_request");
  CHECK(run["result"]["detail"] == "it was still in the queue");
}

TEST_CASE("a client that half-closes its connection still gets its answer") {
  const DaemonFixture daemon;
  HttpConnection connection(daemon.socket());
  connection.send_request("POST", "/v1/runs", shell("sleep 0.3; echo patience").dump());
  connection.shut_down_writing();
  CHECK(connection.receive_reply().json()["result"]["stdout"] == "patience\n");
}

TEST_CASE("pipelined runs are answered in their order") {
  const DaemonFixture daemon;
  HttpConnection connection(daemon.socket());
  connection.send_request("POST", "/v1/runs", shell("sleep 0.2; echo 1").dump());
  connection.send_request("POST", "/v1/runs", shell("echo 2").dump());
  connection.send_request("GET", "/health");
  connection.send_request("POST", "/v1/runs", shell("echo 3").dump());
  CHECK(connection.receive_reply().json()["result"]["stdout"] == "1\n");
  CHECK(connection.receive_reply().json()["result"]["stdout"] == "2\n");
  CHECK(connection.receive_reply().json()["status"] == "ok");
  CHECK(connection.receive_reply().json()["result"]["stdout"] == "3\n");
}

TEST_CASE("a request may come byte by byte") {
  const DaemonFixture daemon;
  HttpConnection connection(daemon.socket());
  const std::string body = shell("echo slow").dump();
  const std::string request =
      "POST /v1/runs HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  for (const char byte : request) {
    connection.send({&byte, 1});
    std::this_thread::sleep_for(milliseconds(1));
  }
  CHECK(connection.receive_reply().json()["result"]["stdout"] == "slow\n");
}

TEST_CASE("a client that does not read its stream holds up neither the run nor anybody else") {
  const DaemonFixture daemon;
  const std::string file = daemon.directory().make_directory("shared", 0777) + "/written";
  HttpConnection slow(daemon.socket());
  json request = shell("head -c 8000000 /dev/zero | tr '\\0' x; echo end > " + file);
  request["stream"] = true;
  slow.send_request("POST", "/v1/runs", request.dump());
  // Nothing is read, far more is written than any socket buffer holds, and the program goes on.
  CHECK(eventually([&] { return ::access(file.c_str(), F_OK) == 0; }));
  CHECK(eventually([&] { return daemon.health("runs_alive") == 0; }));
  CHECK(daemon.run(shell("echo x"))["result"]["stdout"] == "x\n");

  CHECK(slow.receive_head().status == 200);
  std::size_t bytes = 0;
  json event;
  for (event = slow.receive_event(); event["event"] != "finished"; event = slow.receive_event())
    if (event["event"] == "stdout") bytes += event["data"].get<std::string>().size();
  CHECK(bytes == 8000000);
  CHECK(event["run"]["result"]["stdout_truncated"] == false);
}

TEST_CASE("a program waits for a stream that is read too slowly, and loses nothing") {
  // Goal: bounded memory without lost output. Method: far more output than output_bytes, read late.
  const DaemonFixture daemon;
  HttpConnection slow(daemon.socket());
  json request = shell("head -c 6000000 /dev/zero | tr '\\0' x");
  request["stream"] = true;
  request["limits"] = {{"output_bytes", 100000}};
  slow.send_request("POST", "/v1/runs", request.dump());
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  CHECK(daemon.health("runs_alive") == 1);  // it waits
  CHECK(slow.receive_head().status == 200);
  std::size_t bytes = 0;
  json event;
  for (event = slow.receive_event(); event["event"] != "finished"; event = slow.receive_event())
    if (event["event"] == "stdout") bytes += event["data"].get<std::string>().size();
  CHECK(bytes == 6000000);
  CHECK(event["run"]["result"]["cause"] == "exited");
}

TEST_CASE("a flood of output is drained, capped and flagged, and others are answered meanwhile") {
  const DaemonFixture daemon;
  HttpConnection flooding(daemon.socket());
  const json request = shell("head -c 67108864 /dev/zero | tr '\\0' x");
  flooding.send_request("POST", "/v1/runs", request.dump());
  REQUIRE(eventually([&] { return daemon.health("runs_alive") == 1; }));
  // Until the answer is there: making it must not hold up the others either.
  double slowest_s = 0;
  double total_s = 0;
  int answered = 0;
  pollfd reply{.fd = flooding.fd(), .events = POLLIN, .revents = 0};
  while (::poll(&reply, 1, 0) == 0) {
    const auto begin = steady_clock::now();
    REQUIRE(daemon.get("/v1/profiles").status == 200);
    const std::chrono::duration<double> time = steady_clock::now() - begin;
    slowest_s = std::max(slowest_s, time.count());
    total_s += time.count();
    ++answered;
  }
  const json result = flooding.receive_reply().json()["result"];
  CHECK(result["cause"] == "exited");
  CHECK(result["stdout_bytes"] == 67108864);
  CHECK(result["stdout_truncated"] == true);
  CHECK(result["stdout"].get<std::string>() == std::string(10u << 20, 'x'));
  CHECK(result["stderr_truncated"] == false);
  INFO(answered << " answers, the slowest after " << slowest_s << " s");
  CHECK(answered >= 10);
  CHECK(total_s / answered < 0.5);
  CHECK(slowest_s < 5);  // with sanitizers, on a busy machine
}

// Goal: output that JSON blows up sixfold costs its neighbours no more than text does.
TEST_CASE("a flood of control characters comes as base64") {
  const DaemonFixture daemon;
  const json result = daemon.run(shell("head -c 12000000 /dev/zero"))["result"];
  CHECK(result["stdout_bytes"] == 12000000);
  CHECK_FALSE(result.contains("stdout"));
  CHECK(result["stdout_base64"].get<std::string>().starts_with("AAAA"));
  CHECK(result["stdout_base64"].get<std::string>().size() == ((10u << 20) + 2) / 3 * 4);
}
