// What a client cannot do: send too much, take too long, or come in too great numbers.

#include <unistd.h>

#include "http_fixture.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using namespace std::chrono_literals;

namespace {

ServerConfig small_limits() {
  ServerConfig config;
  config.connections_max = 3;
  config.parser = {.header_bytes_max = 1000, .body_bytes_max = 1000};
  config.idle_timeout = 200ms;
  config.request_timeout = 300ms;
  config.write_stall_timeout = 80ms;
  config.linger_timeout = 80ms;
  return config;
}

struct SmallFixture : HttpFixture {
  SmallFixture() : HttpFixture(small_limits()) {}
};

struct CustomErrorFixture : HttpFixture {
  static ServerConfig config() {
    ServerConfig config;
    config.error_response = [](const HttpError& error) {
      return Response{.status = error.status,
                      .content_type = "application/json",
                      .body = "{\"error\": \"" + error.message + "\"}"};
    };
    return config;
  }
  CustomErrorFixture() : HttpFixture(config()) {}
};

}  // namespace

TEST_CASE_METHOD(SmallFixture, "a header over the limit is 431 and the end of the connection") {
  Client client(socket_path);
  client.send(get("/", "X: " + std::string(2000, 'x') + "\r\n"));
  client.shut_down_writing();
  run_until_closed(client);
  CHECK(parse_responses(client.received).at(0).status == 431);
  CHECK(requests.empty());
}

TEST_CASE_METHOD(SmallFixture, "a body over the limit is 413, also for a client still sending it") {
  // Goal: the client finishes its write and reads the refusal. Method: more than a socket holds.
  Client client(socket_path);
  client.send(post("/", std::string(3'000'000, 'x')));
  client.shut_down_writing();
  run_until([&] { return client.is_closed && client.has_sent_all(); }, {&client});
  CHECK(parse_responses(client.received).at(0).status == 413);
  CHECK(requests.empty());
}

TEST_CASE_METHOD(SmallFixture, "a client that waits for the go-ahead gets the refusal instead") {
  Client client(socket_path);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n");
  run_until_responses(client, 1);
  CHECK(parse_responses(client.received).at(0).status == 413);
}

TEST_CASE_METHOD(SmallFixture, "a refused client that never stops sending is cut off") {
  Client client(socket_path);
  client.send("nonsense\r\n\r\n");
  run_until([&] { return server->connection_count() == 1; });
  run_until(
      [&] {
        client.send(std::string(10'000, 'x'));
        return server->connection_count() == 0;
      },
      {&client});
  CHECK(parse_responses(client.received).at(0).status == 400);
}

TEST_CASE_METHOD(SmallFixture, "an idle connection is closed without a word") {
  Client silent(socket_path);
  Client answered(socket_path);
  answered.send(get("/"));
  run_until([&] { return silent.is_closed && answered.is_closed; }, {&silent, &answered});
  CHECK(silent.received.empty());
  CHECK(parse_responses(answered.received).size() == 1);
}

TEST_CASE_METHOD(SmallFixture, "a request that does not arrive in time is 408, however it drips") {
  Client client(socket_path);
  client.send("GET / HTTP/1.1\r\nX: ");
  const auto start = loop->now();
  run_until(
      [&] {
        client.send("x");
        ::usleep(1000);
        return client.is_closed;
      },
      {&client});
  CHECK(parse_responses(client.received).at(0).status == 408);
  CHECK(loop->now() - start < 2s);

  Client body_client(socket_path);
  body_client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello");
  run_until_closed(body_client);
  CHECK(parse_responses(body_client.received).at(0).status == 408);
}

TEST_CASE_METHOD(SmallFixture, "a request that is being answered has all the time it takes") {
  Exchange exchange;
  handler = [&](const HttpRequest&, Exchange pending) { exchange = std::move(pending); };
  Client client(socket_path);
  client.send(get("/"));
  run_for(400ms, {&client});
  REQUIRE(exchange.is_open());
  exchange.respond({.body = "at last"});
  run_until_responses(client, 1);
  CHECK(parse_responses(client.received).at(0).body == "at last");
}

TEST_CASE_METHOD(SmallFixture, "each request on a connection has its own time") {
  Client client(socket_path);
  for (std::size_t i = 1; i <= 6; ++i) {
    client.send("GET / HTTP/1.1\r\n");
    run_for(60ms, {&client});
    client.send("Host: a\r\n\r\n");
    run_until_responses(client, i);
  }
  CHECK_FALSE(client.is_closed);
}

TEST_CASE_METHOD(SmallFixture, "a client that does not read its response is disconnected") {
  handler = [](const HttpRequest&, const Exchange& exchange) {
    exchange.respond({.body = std::string(3'000'000, 'x')});
  };
  Client client(socket_path);
  client.send(get("/"));
  run_until([&] { return requests.size() == 1; });
  run_until([&] { return server->connection_count() == 0; });
}

TEST_CASE_METHOD(SmallFixture,
                 "a client over the maximum is told so, and the next one finds room") {
  std::vector<std::unique_ptr<Client>> clients;
  handler = [](const HttpRequest&, const Exchange&) {};  // keeps them all waiting
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<Client>(socket_path));
    clients.back()->send(get("/"));
  }
  run_until([&] { return requests.size() == 3; });
  Client refused(socket_path);
  refused.send(get("/refused"));
  refused.shut_down_writing();
  run_until_closed(refused);
  const auto responses = parse_responses(refused.received);
  REQUIRE(responses.size() == 1);
  CHECK(responses[0].status == 503);
  CHECK(responses[0].header.find("Retry-After: ") != std::string::npos);
  CHECK(requests.size() == 3);

  clients.pop_back();
  run_until([&] { return server->connection_count() == 2; });
  Client welcome(socket_path);
  welcome.send(get("/welcome"));
  run_until([&] { return requests.size() == 4; }, {&welcome});
  CHECK(requests.back().path == "/welcome");
}

TEST_CASE_METHOD(SmallFixture, "far too many clients are just closed") {
  std::vector<std::unique_ptr<Client>> clients;
  clients.reserve(100);
  for (int i = 0; i < 100; ++i) clients.push_back(std::make_unique<Client>(socket_path));
  run_for(20ms);
  CHECK(server->connection_count() <= 3 + 32);
  run_until([&] { return server->connection_count() == 0; });
}

TEST_CASE_METHOD(CustomErrorFixture, "the daemon decides what a refusal looks like") {
  Client client(socket_path);
  client.send("GET / HTTP/3.0\r\n\r\n");
  run_until_responses(client, 1);
  const auto responses = parse_responses(client.received);
  REQUIRE(responses.size() == 1);
  CHECK(responses[0].status == 505);
  CHECK(responses[0].body ==
        "{\"error\": \"HTTP/3.0 is not supported, only HTTP/1.0 and HTTP/1.1\"}");
}

TEST_CASE_METHOD(HttpFixture, "a server that stops accepting finishes what it has begun") {
  Exchange exchange;
  handler = [&](const HttpRequest&, Exchange pending) { exchange = std::move(pending); };
  Client idle(socket_path);
  Client busy(socket_path);
  busy.send(get("/") + get("/never"));
  run_until([&] { return exchange.is_open() && server->connection_count() == 2; });
  bool is_idle = false;
  server->stop_accepting([&] { is_idle = true; });
  CHECK(::access(socket_path.c_str(), F_OK) != 0);
  run_until_closed(idle);
  CHECK_FALSE(is_idle);
  REQUIRE(exchange.is_open());
  exchange.respond({.body = "done"});
  run_until_closed(busy);
  const auto responses = parse_responses(busy.received);
  REQUIRE(responses.size() == 1);
  CHECK(responses[0].body == "done");
  CHECK(responses[0].header.find("Connection: close\r\n") != std::string::npos);
  run_until([&] { return is_idle; });
}

TEST_CASE_METHOD(HttpFixture,
                 "a server without clients is idle at once, but says so from the loop") {
  int idle = 0;
  server->stop_accepting([&] { ++idle; });
  CHECK(idle == 0);
  run_until([&] { return idle == 1; });
  run_for(5ms);
  CHECK(idle == 1);
}
