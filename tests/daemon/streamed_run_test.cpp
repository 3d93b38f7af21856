// POST /v1/runs with "stream": true: one JSON object per line.

#include "support/daemon_fixture.hpp"

using nlohmann::json;

namespace {

struct Streamed {
  HttpReply head;
  std::vector<json> events;

  // All "data" of one stream, joined.
  std::string text(const std::string& stream) const {
    std::string all;
    for (const json& event : events)
      if (event["event"] == stream && event.contains("data"))
        all += event["data"].get<std::string>();
    return all;
  }
};

Streamed stream(const DaemonFixture& daemon, json request) {
  request["stream"] = true;
  HttpConnection connection(daemon.socket());
  connection.send_request("POST", "/v1/runs", request.dump());
  Streamed streamed{connection.receive_head(), {}};
  for (json event = connection.receive_event(); !event.is_null();
       event = connection.receive_event())
    streamed.events.push_back(event);
  return streamed;
}

}  // namespace

TEST_CASE("a stream begins with started, carries the output in order, and ends with finished") {
  const DaemonFixture daemon;
  const Streamed streamed =
      stream(daemon, shell("echo one; echo two; echo three >&2; exit 4", "DEFAULT"));
  CHECK(streamed.head.status == 200);
  CHECK(streamed.head.header("Content-Type") == "application/x-ndjson");
  REQUIRE(streamed.events.size() >= 4);
  const json& first = streamed.events.front();
  CHECK(first["event"] == "started");
  CHECK(first["confinement"]["profile"] == "DEFAULT");
  CHECK(first["confinement"]["rlimits"]["nproc"] == "64");
  CHECK(first["confinement"]["pid"].get<int>() > 0);
  CHECK(streamed.text("stdout") == "one\ntwo\n");
  CHECK(streamed.text("stderr") == "three\n");
  const json& last = streamed.events.back();
  CHECK(last["event"] == "finished");
  CHECK(last["run"]["state"] == "finished");
  CHECK(last["run"]["result"]["exit_code"] == 4);
  CHECK(last["run"]["result"]["stdout_bytes"] == 8);
  CHECK_FALSE(last["run"]["result"].contains("stdout"));

  const std::string id = first["id"];
  for (const json& event : streamed.events) CHECK(event["id"] == id);
  CHECK(daemon.get("/v1/runs/" + id).json()["result"]["stdout"] == "one\ntwo\n");
}

TEST_CASE("output arrives while the program still runs") {
  const DaemonFixture daemon;
  HttpConnection connection(daemon.socket());
  json request = shell("echo early; sleep 300");
  request["stream"] = true;
  connection.send_request("POST", "/v1/runs", request.dump());
  connection.receive_head();
  CHECK(connection.receive_event()["event"] == "started");
  const json event = connection.receive_event();
  CHECK(event["event"] == "stdout");
  CHECK(event["data"] == "early\n");
  const std::string id = event["id"];
  CHECK(daemon.get("/v1/runs/" + id).json()["state"] == "running");
}

TEST_CASE("streamed bytes that are not UTF-8 come as base64") {
  const DaemonFixture daemon;
  const Streamed streamed = stream(daemon, shell("printf '\\200\\201'"));
  REQUIRE(streamed.events.size() == 3);
  CHECK(streamed.events[1]["event"] == "stdout");
  CHECK(streamed.events[1]["base64"] == "gIE=");
  CHECK_FALSE(streamed.events[1].contains("data"));
}

TEST_CASE("a stream carries all output, also what the profile does not keep") {
  const DaemonFixture daemon;
  json request = shell("head -c 3000000 /dev/zero | tr '\\0' x");
  request["limits"] = {{"output_bytes", 100000}};
  const Streamed streamed = stream(daemon, request);
  CHECK(streamed.text("stdout") == std::string(3000000, 'x'));
  const json& result = streamed.events.back()["run"]["result"];
  CHECK(result["stdout_bytes"] == 3000000);
  CHECK(result["stdout_truncated"] == true);
}

TEST_CASE("a streamed run that never starts has no started event") {
  const DaemonFixture daemon({.config = "[limits]\nruns_alive = 1\n"});
  const std::string first = daemon.start(shell("sleep 300"));
  daemon.wait_until_started(first);
  HttpConnection connection(daemon.socket());
  json request = shell("echo never");
  request["stream"] = true;
  connection.send_request("POST", "/v1/runs", request.dump());
  CHECK(connection.receive_head().status == 200);
  const std::string id = daemon.get("/v1/runs?state=queued").json()["runs"][0]["id"];
  CHECK(daemon.remove("/v1/runs/" + id).status == 202);
  const json event = connection.receive_event();
  CHECK(event["event"] == "finished");
  CHECK(event["run"]["result"]["cause"] == "killed_by_request");
  CHECK(connection.receive_event().is_null());
}

TEST_CASE("a streamed run that cannot be executed ends with its cause and without output") {
  const DaemonFixture daemon;
  const Streamed streamed = stream(daemon, {{"profile", "OFF"}, {"argv", {"/no/such/program"}}});
  const json& last = streamed.events.back();
  CHECK(last["event"] == "finished");
  CHECK(last["run"]["result"]["cause"] == "cannot_execute");
  CHECK(streamed.text("stdout").empty());
}

TEST_CASE("a stream's connection can be used again after it") {
  const DaemonFixture daemon;
  HttpConnection connection(daemon.socket());
  json request = shell("echo x");
  request["stream"] = true;
  connection.send_request("POST", "/v1/runs", request.dump());
  connection.receive_head();
  while (!connection.receive_event().is_null()) {
  }
  connection.send_request("GET", "/health");
  CHECK(connection.receive_reply().status == 200);
}

TEST_CASE("a refused request is an error with its status also if it asked for a stream") {
  const DaemonFixture daemon;
  json request = {{"profile", "NONE"}, {"argv", {"true"}}, {"stream", true}};
  const HttpReply reply = daemon.post("/v1/runs", request);
  CHECK(reply.status == 404);
  CHECK(reply.error_code() == "unknown_profile");
}
