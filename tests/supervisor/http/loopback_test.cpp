#include "supervisor/http/loopback.hpp"

#include "http_fixture.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;

TEST_CASE("a loopback address is this host's, and goes there and back as text") {
  for (const char* text : {"127.0.0.1:8231", "[::1]:1", "127.0.0.1:65535"})
    CHECK(to_string(parse_loopback_address(text).value()) == text);
  CHECK(parse_loopback_address("localhost:5").value() == LoopbackAddress{.v6 = false, .port = 5});
}

TEST_CASE("a Host header names the listener only with its port") {
  for (const char* host : {"127.0.0.1:8231", "localhost:8231", "LOCALHOST:8231", "[::1]:8231"})
    CHECK(is_host_of(host, 8231));
  for (const char* host :
       {"", "127.0.0.1", "localhost", "127.0.0.1:8232", "evil.example:8231", "127.0.0.1:8231 ",
        "localhost.evil.example:8231", "127.0.0.1.nip.io:8231", "::1:8231", "[::1]"})
    CHECK_FALSE(is_host_of(host, 8231));
  CHECK(is_host_of("localhost", 80));
  CHECK_FALSE(is_host_of("evil.example", 80));
}

TEST_CASE("a port that somebody listens on is refused by name") {
  const Listener first = bind_loopback({.v6 = false, .port = 0}).value();
  const LoopbackAddress address = address_of(first);
  CHECK(address.port != 0);
  const auto second = bind_loopback(address);
  REQUIRE_FALSE(second);
  CHECK(second.error().message == "listen on " + to_string(address) + ": Address already in use");
}

TEST_CASE("a client on TCP is served like any other, and is nobody to the kernel") {
  HttpFixture fixture;
  Listener listener = bind_loopback({.v6 = false, .port = 0}).value();
  const std::uint16_t port = address_of(listener).port;
  std::vector<Peer> peers;
  const auto server =
      Server::start(fixture.loop->get(), std::move(listener), {},
                    [&](const HttpRequest& request, const Exchange& exchange) {
                      peers.push_back(exchange.peer());
                      exchange.respond({.body = "got " + request.body, .headers = {}});
                    })
          .value();
  Client client(port);
  client.send(post("/a", "one") + post("/b", std::string(1 << 20, 'x')));
  fixture.run_until_responses(client, 2);
  const auto responses = parse_responses(client.received);
  CHECK(responses[0].body == "got one");
  CHECK(responses[1].body.size() == (1 << 20) + 4);
  CHECK(peers[0] == Peer{.pid = 0, .uid = static_cast<uid_t>(-1), .gids = {}, .over_tcp = true});

  client.vanish();
  fixture.run_until([&] { return server->connection_count() == 0; });
}
