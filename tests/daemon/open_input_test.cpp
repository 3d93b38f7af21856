// "stdin_open": input that comes while the run runs, through POST /v1/runs/{id}/stdin.

#include "support/daemon_fixture.hpp"

using nlohmann::json;

namespace {

HttpReply write_input(const DaemonFixture& daemon, const std::string& id, std::string_view bytes,
                      const std::string& query = "") {
  HttpConnection connection(daemon.socket());
  connection.send_request("POST", "/v1/runs/" + id + "/stdin" + query, bytes);
  return connection.receive_reply();
}

}  // namespace

TEST_CASE("an open run echoes what it is told, line by line, until its input is closed") {
  const DaemonFixture daemon;
  HttpConnection connection(daemon.socket());
  const json request = {{"profile", "OFF"},
                        {"argv", {"cat"}},
                        {"stream", true},
                        {"stdin_open", true},
                        {"stdin", "zero\n"}};
  connection.send_request("POST", "/v1/runs", request.dump());
  connection.receive_head();
  const std::string id = connection.receive_event()["id"];
  CHECK(connection.receive_event()["data"] == "zero\n");
  CHECK(write_input(daemon, id, "one\n").status == 204);
  CHECK(connection.receive_event()["data"] == "one\n");
  CHECK(write_input(daemon, id, std::string_view("\x00\xff\n", 3)).status == 204);
  CHECK(connection.receive_event()["base64"] == "AP8K");
  CHECK(write_input(daemon, id, "last\n", "?close=true").status == 204);
  CHECK(connection.receive_event()["data"] == "last\n");
  const json last = connection.receive_event();
  CHECK(last["event"] == "finished");
  CHECK(last["run"]["result"]["exit_code"] == 0);
}

TEST_CASE("a detached run keeps the input that came before it read any") {
  const DaemonFixture daemon;
  json request = shell("sleep 0.2; cat");
  request["stdin_open"] = true;
  const std::string id = daemon.start(request);
  CHECK(write_input(daemon, id, "a").status == 204);
  CHECK(write_input(daemon, id, "b", "?close=false").status == 204);
  CHECK(write_input(daemon, id, "", "?close=true").status == 204);
  CHECK(daemon.finished(id)["result"]["stdout"] == "ab");
}

TEST_CASE("input for a run that is closed, finished or unknown is refused") {
  const DaemonFixture daemon;
  CHECK(write_input(daemon, "r-0000000000000000", "x").status == 404);
  const std::string closed = daemon.start(shell("sleep 300"));
  const HttpReply reply = write_input(daemon, closed, "x");
  CHECK(reply.status == 400);
  CHECK(reply.error_code() == "invalid_request");

  json request = shell("cat");
  request["stdin_open"] = true;
  const std::string open = daemon.start(request);
  CHECK(write_input(daemon, open, "x", "?close=true").status == 204);
  CHECK(write_input(daemon, open, "y").status == 400);
  daemon.finished(open);
  CHECK(write_input(daemon, open, "y").status == 400);
  CHECK(write_input(daemon, open, "y", "?close=perhaps").status == 400);
}

TEST_CASE("a run that does not read its input is not buffered for without end") {
  const DaemonFixture daemon;
  json request = shell("sleep 300");
  request["stdin_open"] = true;
  const std::string id = daemon.start(request);
  const std::string megabytes(6 << 20, 'x');
  CHECK(write_input(daemon, id, megabytes).status == 204);
  CHECK(write_input(daemon, id, megabytes).status == 204);
  const HttpReply reply = write_input(daemon, id, megabytes);
  CHECK(reply.status == 429);
  CHECK(reply.error_code() == "too_busy");
  CHECK(reply.header("Retry-After") == "1");
}

TEST_CASE("open input needs an answer that does not wait for the end") {
  const DaemonFixture daemon;
  json request = shell("cat");
  request["stdin_open"] = true;
  const HttpReply reply = daemon.post("/v1/runs", request);
  CHECK(reply.status == 400);
  CHECK(reply.error_message().find("'stdin_open'") != std::string::npos);
}

TEST_CASE("a queued run with open input gets what was written to it while it waited") {
  const DaemonFixture daemon({.config = "[limits]\nruns_alive = 1\n"});
  const std::string first = daemon.start(shell("sleep 300"));
  daemon.wait_until_started(first);
  json request = shell("cat");
  request["stdin_open"] = true;
  const std::string second = daemon.start(request);
  CHECK(daemon.get("/v1/runs/" + second).json()["state"] == "queued");
  CHECK(write_input(daemon, second, "early ").status == 204);
  CHECK(write_input(daemon, second, "bird", "?close=true").status == 204);
  CHECK(daemon.remove("/v1/runs/" + first).status == 202);
  CHECK(daemon.finished(second)["result"]["stdout"] == "early bird");
}
