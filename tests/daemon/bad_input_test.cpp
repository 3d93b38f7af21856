// What clients get wrong, by mistake or on purpose: one clear error each, and nothing starts.

#include <sys/socket.h>

#include "support/daemon_fixture.hpp"

using nlohmann::json;

namespace {

// The daemon's answer to raw bytes, and whether it serves others as before.
HttpReply answer_to(const DaemonFixture& daemon, std::string_view bytes) {
  HttpConnection connection(daemon.socket());
  connection.send(bytes);
  const HttpReply reply = connection.receive_reply();
  CHECK(daemon.get("/health").status == 200);
  return reply;
}

}  // namespace

TEST_CASE("a request that is not a run is refused with the field that is wrong") {
  const DaemonFixture daemon;
  const std::pair<json, const char*> wrong[] = {
      {json::array({"true"}), "JSON object"},
      {{{"argv", json::array()}}, "argv is empty"},
      {{{"argv", "true"}}, "argv: must be"},
      {{{"argv", {"true"}}, {"profil", "OFF"}}, "did you mean 'profile'?"},
      {{{"argv", {"true"}}, {"limits", {{"wall_second", 1}}}},
       "did you mean 'limits.wall_seconds'?"},
      {{{"argv", {std::string("a\0b", 3)}}}, "argv[0] contains a NUL byte"},
      {{{"argv", {"true"}}, {"stdin_base64", "%%%"}}, "stdin_base64: must be base64"},
      {{{"argv", {"true"}}, {"detach", true}, {"stream", true}}, "exclude each other"},
      {{{"argv", std::vector<std::string>(9000, "x")}}, "argv has 9000 entries, at most 8192"},
  };
  for (const auto& [request, message] : wrong) {
    const HttpReply reply = daemon.post("/v1/runs", request);
    INFO(reply.body);
    CHECK(reply.status == 400);
    CHECK(reply.error_code() == "invalid_request");
    CHECK(reply.error_message().find(message) != std::string::npos);
  }
  CHECK(daemon.get("/v1/runs").json()["runs"].empty());
}

TEST_CASE("ten megabytes of environment are refused by their size") {
  const DaemonFixture daemon;
  json request = {{"profile", "OFF"}, {"argv", {"true"}}};
  request["env"] = {{"TZ", std::string(10 << 20, 'x')}};
  const HttpReply reply = daemon.post("/v1/runs", request);
  CHECK(reply.status == 400);
  CHECK(reply.error_message().find("environment is 10485764 bytes") != std::string::npos);
}

TEST_CASE("bytes that are not HTTP are refused and do not disturb anybody else") {
  const DaemonFixture daemon;
  const std::pair<const char*, int> wrong[] = {
      {"nonsense\r\n\r\n", 400},
      {"GET /health HTTP/3.0\r\nHost: x\r\n\r\n", 400},
      {"GET /health HTTP/1.1\r\n\r\n", 400},
      {"POST /v1/runs HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400},
      {"POST /v1/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
       400},
      {"POST /v1/runs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
      {"GET /v1/runs?a=1&a=2 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"POST /v1/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{\"argv\": ", 400},
  };
  for (const auto& [bytes, status] : wrong) {
    INFO(bytes);
    const HttpReply reply = answer_to(daemon, bytes);
    CHECK((reply.status == status || (reply.status == 505 && status == 400)));
    CHECK(reply.error_code() == "invalid_request");
  }
}

TEST_CASE("a header or a body above the limit is refused before it is read to its end") {
  const DaemonFixture daemon({.config = "[limits]\nbody_bytes = \"64KiB\"\n"});
  CHECK(answer_to(daemon, "GET /health HTTP/1.1\r\nHost: x\r\nX: " + std::string(20000, 'x'))
            .status == 431);
  const HttpReply announced =
      answer_to(daemon, "POST /v1/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\n\r\n");
  CHECK(announced.status == 413);
  CHECK(announced.error_code() == "invalid_request");
  CHECK(answer_to(daemon,
                  "POST /v1/runs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "10001\r\n" +
                      std::string(65537, 'x'))
            .status == 413);
  json request = shell("wc -c");
  request["stdin"] = std::string(60000, 'x');
  CHECK(daemon.run(request)["result"]["stdout"] == "60000\n");
}

TEST_CASE("a client that only connects, or stops in the middle, holds up nobody") {
  const DaemonFixture daemon;
  HttpConnection silent(daemon.socket());
  HttpConnection half(daemon.socket());
  half.send("POST /v1/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
  CHECK(daemon.run(shell("echo x"))["result"]["stdout"] == "x\n");
}

TEST_CASE("above the limit of connections a client is told so, and later served again") {
  const DaemonFixture daemon({.config = "[limits]\nconnections = 4\n"});
  std::vector<std::unique_ptr<HttpConnection>> open;
  for (int i = 0; i < 4; ++i) open.push_back(std::make_unique<HttpConnection>(daemon.socket()));
  for (const auto& connection : open) {
    connection->send_request("GET", "/health");
    CHECK(connection->receive_reply().status == 200);
  }
  CHECK(daemon.get("/health").status == 503);
  open.clear();
  CHECK(eventually([&] { return daemon.get("/health").status == 200; }));
}

TEST_CASE("garbage of every kind leaves the daemon serving") {
  const DaemonFixture daemon;
  unsigned state = 12345;  // a fixed seed: the same garbage each time
  const auto random = [&state] { return (state = state * 1103515245 + 12345) >> 16; };
  const std::string good = [] {
    const std::string body = shell("true").dump();
    return "POST /v1/plan HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  }();
  for (int i = 0; i < 100; ++i) {
    std::string bytes = good;
    for (unsigned changes = random() % 4 + 1; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
    HttpConnection connection(daemon.socket());
    connection.send(bytes);
    connection.shut_down_writing();
    connection.receive_to_end();
  }
  CHECK(daemon.get("/health").json()["status"] == "ok");
}
