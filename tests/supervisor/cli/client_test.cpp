// The HTTP client against a daemon that a test writes by hand.

#include "supervisor/cli/client.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_daemon.hpp"
#include "supervisor/cli/daemon.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor::cli;
using std::chrono::milliseconds;

namespace {

Client connected_to(const FakeDaemon& daemon) {
  auto client = Client::connect(daemon.socket());
  if (!client) FAIL(client.error().message);
  return std::move(*client);
}

// A server that answers each request with `bytes` and hangs up.
FakeDaemon::Handler answering(const std::string& bytes) {
  return [bytes](const FakeRequest&, const FakeConnection& connection) {
    connection.write(bytes);
    return false;
  };
}

kernel::Result<HttpResponse> response_to(const std::string& bytes) {
  const FakeDaemon daemon(answering(bytes));
  return connected_to(daemon).request("GET", "/");
}

}  // namespace

TEST_CASE("one connection carries several exchanges") {
  const FakeDaemon daemon([](const FakeRequest& request, const FakeConnection& connection) {
    connection.respond(200, request.method + " " + request.target + " " + request.body);
    return true;
  });
  {
    Client client = connected_to(daemon);
    CHECK(client.request("GET", "/a")->body == "GET /a ");
    CHECK(client.request("POST", "/b", "{}")->body == "POST /b {}");
    CHECK(client.request("DELETE", "/c")->body == "DELETE /c ");
    CHECK(client.daemon_uid() == ::geteuid());
  }
  CHECK(daemon.requests().size() == 3);
}

TEST_CASE("a large body goes both ways") {
  const FakeDaemon daemon([](const FakeRequest& request, const FakeConnection& connection) {
    connection.respond(200, request.body);
    return false;
  });
  std::string body(20u << 20, 'x');
  body[12345] = 'y';
  const auto response = connected_to(daemon).request("POST", "/", body);
  REQUIRE(response);
  CHECK(response->body == body);
}

TEST_CASE("chunked answers, answers until the end of the connection, and answers without a body") {
  CHECK(
      response_to("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n"
                  "0\r\nTrailer: 1\r\n\r\n")
          ->body == "abcde");
  CHECK(response_to("HTTP/1.1 200 OK\r\n\r\nuntil the end")->body == "until the end");
  CHECK(response_to("HTTP/1.1 204 No Content\r\n\r\n")->status == 204);
  CHECK(response_to("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")->status == 404);
}

TEST_CASE("an answer may come one byte at a time") {
  const FakeDaemon daemon([](const FakeRequest&, const FakeConnection& connection) {
    for (const char c : std::string(
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n")) {
      connection.write({&c, 1});
      ::usleep(500);
    }
    return false;
  });
  CHECK(connected_to(daemon).request("GET", "/")->body == "abcd");
}

TEST_CASE("a daemon that goes away in the middle of an answer is an error") {
  for (const char* bytes : {"", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"}) {
    const auto response = response_to(bytes);
    REQUIRE_FALSE(response);
    CHECK(response.error().code == kernel::ErrorCode::io);
  }
}

TEST_CASE("an answer that is not HTTP is an error") {
  CHECK_FALSE(response_to("SSH-2.0-OpenSSH_9.2\r\n"));
  CHECK_FALSE(response_to("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"));
}

TEST_CASE("a daemon that does not answer is given up") {
  const FakeDaemon daemon([](const FakeRequest&, const FakeConnection& connection) {
    connection.wait_for_client_gone();
    return false;
  });
  const auto response = connected_to(daemon).request("GET", "/", "", milliseconds(50));
  REQUIRE_FALSE(response);
  CHECK(response.error().message == "the daemon does not answer");
}

TEST_CASE("a stream is read as it comes") {
  const FakeDaemon daemon([](const FakeRequest&, const FakeConnection& connection) {
    connection.begin_chunks();
    connection.chunk("first\n");
    connection.wait_for_client_gone();
    return false;
  });
  Client client = connected_to(daemon);
  REQUIRE(client.send("POST", "/v1/runs", "{}"));
  std::string body;
  while (body.empty()) {
    pollfd polled{client.fd(), POLLIN, 0};
    REQUIRE(::poll(&polled, 1, 10'000) == 1);
    const auto progress = client.read_some(body);
    REQUIRE(progress);
    CHECK_FALSE(progress->complete);
  }
  CHECK(body == "first\n");
}

TEST_CASE("whom nobody listens to is told apart from other failures") {
  const auto missing = Client::connect("/tmp/no-such-directory/paddock.sock");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == kernel::ErrorCode::not_found);
  CHECK(missing.error().message ==
        "connect to '/tmp/no-such-directory/paddock.sock': No such file or directory");

  const auto too_long = Client::connect("/" + std::string(120, 'x'));
  REQUIRE_FALSE(too_long);
  CHECK(too_long.error().code == kernel::ErrorCode::invalid_request);
  CHECK(too_long.error().message.find("at most 107") != std::string::npos);

  const auto file = Client::connect("/dev/null/paddock.sock");
  REQUIRE_FALSE(file);
  CHECK(file.error().code == kernel::ErrorCode::io);
}

TEST_CASE("an error answer becomes the error that it carries") {
  const auto error =
      error_of({422, R"({"error": {"code": "sandbox_policy_error", "message": "too much"}})"});
  CHECK(error == kernel::Error{kernel::ErrorCode::sandbox_policy_error, "too much"});
  CHECK(error_of({501, R"({"error": {"code": "sandbox_not_available", "message": "x"}})"}).code ==
        kernel::ErrorCode::sandbox_not_available);
  for (const char* body : {"", "oops", "[]", R"({"error": 1})"})
    CHECK(error_of({500, body}).code == kernel::ErrorCode::internal);
}

TEST_CASE("a daemon that was named and is not there is an error") {
  GlobalOptions options;
  options.socket = "/tmp/no-such-directory/paddock.sock";
  const auto daemon = find_daemon(options);
  REQUIRE_FALSE(daemon);
  CHECK(daemon.error().message.find("named by --socket") != std::string::npos);
}
