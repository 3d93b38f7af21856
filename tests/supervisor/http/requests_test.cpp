// Requests and responses over a real socket, as well-behaved clients send them.

#include <unistd.h>

#include "http_fixture.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using namespace std::chrono_literals;

TEST_CASE_METHOD(HttpFixture, "a request reaches the handler and its response comes back") {
  Client client(socket_path);
  client.send(post("/v1/runs?detach=true", "{}"));
  run_until_responses(client, 1);
  const auto responses = parse_responses(client.received);
  REQUIRE(responses.size() == 1);
  CHECK(responses[0].status == 200);
  CHECK(responses[0].body == "POST /v1/runs {}");
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].query.at("detach") == "true");
  CHECK_FALSE(client.is_closed);
}

TEST_CASE_METHOD(HttpFixture, "the handler knows who asks") {
  Peer peer;
  handler = [&](const HttpRequest&, const Exchange& exchange) {
    exchange.respond({});
    peer = exchange.peer();
  };
  Client client(socket_path);
  client.send(get("/"));
  run_until_responses(client, 1);
  CHECK(peer.pid == ::getpid());
  CHECK(peer.uid == ::getuid());
  std::vector<gid_t> gids(static_cast<std::size_t>(::getgroups(0, nullptr)));
  REQUIRE(::getgroups(static_cast<int>(gids.size()), gids.data()) >= 0);
  gids.insert(gids.begin(), ::getgid());
  CHECK(peer.gids == gids);
}

TEST_CASE_METHOD(HttpFixture, "one connection carries many requests") {
  Client client(socket_path);
  for (std::size_t i = 1; i <= 20; ++i) {
    client.send(get("/" + std::to_string(i)));
    run_until_responses(client, i);
  }
  const auto responses = parse_responses(client.received);
  REQUIRE(responses.size() == 20);
  CHECK(responses[19].body == "GET /20 ");
  CHECK(server->connection_count() == 1);
}

TEST_CASE_METHOD(HttpFixture, "a request that comes byte by byte is one request") {
  Client client(socket_path);
  for (const char byte : post("/v1/runs", "hello")) {
    client.send({&byte, 1});
    uv_run(loop->get(), UV_RUN_NOWAIT);
  }
  run_until_responses(client, 1);
  CHECK(parse_responses(client.received).at(0).body == "POST /v1/runs hello");
}

TEST_CASE_METHOD(HttpFixture, "pipelined requests are answered in order") {
  Client client(socket_path);
  std::string bytes;
  for (int i = 0; i < 2000; ++i) bytes += post("/" + std::to_string(i), "body");
  client.send(bytes);
  run_until([&] { return requests.size() == 2000; }, {&client});
  run_until_responses(client, 2000);
  const auto responses = parse_responses(client.received);
  REQUIRE(responses.size() == 2000);
  for (std::size_t i = 0; i < responses.size(); ++i)
    REQUIRE(responses[i].body == "POST /" + std::to_string(i) + " body");
}

TEST_CASE_METHOD(HttpFixture, "a pipelined request waits until the one before it is answered") {
  std::vector<Exchange> exchanges;
  handler = [&](const HttpRequest&, Exchange exchange) {
    exchanges.push_back(std::move(exchange));
  };
  Client client(socket_path);
  client.send(get("/1") + get("/2"));
  run_for(20ms, {&client});
  REQUIRE(exchanges.size() == 1);
  exchanges[0].respond({.body = "one"});
  run_until([&] { return exchanges.size() == 2; }, {&client});
  exchanges[1].respond({.body = "two"});
  run_until_responses(client, 2);
  const auto responses = parse_responses(client.received);
  REQUIRE(responses.size() == 2);
  CHECK(responses[0].body == "one");
  CHECK(responses[1].body == "two");
}

TEST_CASE_METHOD(HttpFixture, "a client that floods while it is being answered is held up") {
  // Goal: memory stays bounded. Method: the handler never answers; the socket must fill up.
  std::vector<Exchange> exchanges;
  handler = [&](const HttpRequest&, Exchange exchange) {
    exchanges.push_back(std::move(exchange));
  };
  Client client(socket_path);
  client.send(get("/"));
  run_until([&] { return exchanges.size() == 1; }, {&client});
  client.send(std::string(4'000'000, 'x'));
  run_for(30ms, {&client});
  CHECK_FALSE(client.has_sent_all());
}

TEST_CASE_METHOD(HttpFixture, "a late answer to a finished exchange does nothing") {
  std::vector<Exchange> exchanges;
  handler = [&](const HttpRequest&, Exchange exchange) {
    exchanges.push_back(std::move(exchange));
  };
  Client client(socket_path);
  client.send(get("/1") + get("/2"));
  run_until([&] { return exchanges.size() == 1; }, {&client});
  exchanges[0].respond({.body = "one"});
  CHECK_FALSE(exchanges[0].is_open());
  run_until([&] { return exchanges.size() == 2; }, {&client});
  exchanges[0].respond({.body = "one again"});
  CHECK(exchanges[0].write("more") == WriteResult::gone);
  CHECK(exchanges[1].is_open());
  exchanges[1].respond({.body = "two"});
  run_until_responses(client, 2);
  CHECK(parse_responses(client.received).at(1).body == "two");
}

TEST_CASE_METHOD(HttpFixture, "a client that asks for the close gets it after its response") {
  Client client(socket_path);
  client.send(get("/", "Connection: close\r\n") + get("/never"));
  run_until_closed(client);
  const auto responses = parse_responses(client.received);
  REQUIRE(responses.size() == 1);
  CHECK(responses[0].header.find("Connection: close\r\n") != std::string::npos);
}

TEST_CASE_METHOD(HttpFixture, "an HTTP/1.0 client is answered and disconnected, unless it asks") {
  Client client(socket_path);
  client.send("GET / HTTP/1.0\r\n\r\n");
  run_until_closed(client);
  CHECK(parse_responses(client.received).at(0).body == "GET / ");

  Client staying(socket_path);
  staying.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  run_until_responses(staying, 1);
  CHECK_FALSE(staying.is_closed);
  CHECK(staying.received.find("Connection: keep-alive\r\n") != std::string::npos);
}

TEST_CASE_METHOD(HttpFixture, "the answer to HEAD has no body, and the next request follows") {
  Client client(socket_path);
  client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + get("/next"));
  run_until([&] { return client.received.ends_with("GET /next "); }, {&client});
  const std::size_t second = client.received.find("HTTP/1.1", 1);
  const std::string first = client.received.substr(0, second);
  CHECK(first.find("Content-Length: 7\r\n") != std::string::npos);
  CHECK(first.ends_with("\r\n\r\n"));
}

TEST_CASE_METHOD(HttpFixture, "a client that waits for the go-ahead gets it before its response") {
  Client client(socket_path);
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  run_until_responses(client, 1);
  CHECK(client.received == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hello");
  run_until_responses(client, 2);
  CHECK(parse_responses(client.received).at(1).body == "POST / hello");
}

TEST_CASE_METHOD(HttpFixture, "a client that shuts down its writing side still gets its response") {
  Exchange exchange;
  bool is_gone = false;
  handler = [&](const HttpRequest&, Exchange pending) {
    exchange = std::move(pending);
    exchange.on_client_gone([&] { is_gone = true; });
  };
  Client client(socket_path);
  client.send(get("/"));
  client.shut_down_writing();
  run_for(50ms, {&client});
  CHECK_FALSE(is_gone);
  REQUIRE(exchange.is_open());
  exchange.respond({.body = "late"});
  run_until_closed(client);
  CHECK(parse_responses(client.received).at(0).body == "late");
  CHECK_FALSE(is_gone);
}

TEST_CASE_METHOD(HttpFixture, "a half-closed client gets all its pipelined responses") {
  Client client(socket_path);
  client.send(get("/1") + get("/2") + get("/3"));
  client.shut_down_writing();
  run_until_closed(client);
  CHECK(parse_responses(client.received).size() == 3);
}

TEST_CASE_METHOD(HttpFixture, "a client that ends in the middle of a request is told so") {
  Client client(socket_path);
  client.send("GET / HTTP/1.1\r\nHos");
  client.shut_down_writing();
  run_until_closed(client);
  CHECK(parse_responses(client.received).at(0).status == 400);
  CHECK(requests.empty());
}

TEST_CASE_METHOD(HttpFixture, "a client that says nothing and leaves is no trouble") {
  Client client(socket_path);
  run_until([&] { return server->connection_count() == 1; });
  client.vanish();
  run_until([&] { return server->connection_count() == 0; });
}

TEST_CASE_METHOD(HttpFixture, "a large response arrives whole") {
  const std::string body(8'000'000, 'x');
  handler = [&](const HttpRequest&, const Exchange& exchange) { exchange.respond({.body = body}); };
  Client client(socket_path);
  client.send(get("/") + get("/"));
  run_until([&] { return client.received.size() >= 2 * body.size() + 200; }, {&client});
  const auto responses = parse_responses(client.received);
  REQUIRE(responses.size() == 2);
  CHECK(responses[0].body == body);
  CHECK(responses[1].body == body);
}

TEST_CASE_METHOD(HttpFixture, "a server may be destroyed before its exchanges") {
  Exchange exchange;
  bool is_gone = false;
  handler = [&](const HttpRequest&, Exchange pending) {
    exchange = std::move(pending);
    exchange.on_client_gone([&] { is_gone = true; });
  };
  Client client(socket_path);
  client.send(get("/"));
  run_until([&] { return exchange.is_open(); }, {&client});
  server.reset();
  CHECK_FALSE(exchange.is_open());
  exchange.respond({.body = "late"});
  run_until_closed(client);
  CHECK_FALSE(is_gone);
}
