// Bytes that no client means to send.

#include <random>

#include "http_fixture.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using namespace std::chrono_literals;

namespace {

ServerConfig quick() {
  ServerConfig config;
  config.parser = {.header_bytes_max = 2000, .body_bytes_max = 2000};
  config.idle_timeout = 50ms;
  config.request_timeout = 50ms;
  config.linger_timeout = 50ms;
  return config;
}

struct GarbageFixture : HttpFixture {
  GarbageFixture() : HttpFixture(quick()) {}
};

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
}

std::string random_bytes(Random& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(below(random, 256));
  return bytes;
}

// Pieces of HTTP in any order: they get further into the parser than plain noise.
std::string random_pieces(Random& random) {
  static const std::vector<std::string> pieces = {"GET ",
                                                  "POST ",
                                                  "HEAD ",
                                                  "/",
                                                  "/v1/runs",
                                                  "?a=b",
                                                  "%41",
                                                  "%",
                                                  " HTTP/1.1",
                                                  " HTTP/1.0",
                                                  " HTTP/9.9",
                                                  "\r\n",
                                                  "\r\n\r\n",
                                                  "\n",
                                                  "\r",
                                                  "Host: a\r\n",
                                                  "Content-Length: 5\r\n",
                                                  "Content-Length: ",
                                                  "Transfer-Encoding: chunked\r\n",
                                                  "Expect: 100-continue\r\n",
                                                  "Connection: close\r\n",
                                                  "5\r\nhello\r\n",
                                                  "0\r\n\r\n",
                                                  "ffff",
                                                  ";x=\"y\"",
                                                  ":",
                                                  " ",
                                                  "\t",
                                                  "hello",
                                                  std::string(1, '\0'),
                                                  "\xff",
                                                  std::string(700, 'x')};
  std::string bytes;
  for (std::size_t count = 1 + below(random, 30); count > 0; --count)
    bytes += pieces[below(random, pieces.size())];
  return bytes;
}

std::string mutated_request(Random& random) {
  std::string bytes = post("/v1/runs?x=1", "hello") +
                      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                      "5\r\nhello\r\n0\r\nX: y\r\n\r\n" +
                      get("/v1/runs");
  for (std::size_t count = 1 + below(random, 5); count > 0; --count) {
    const std::size_t at = below(random, bytes.size());
    switch (below(random, 3)) {
      case 0:
        bytes[at] = static_cast<char>(below(random, 256));
        break;
      case 1:
        bytes.erase(at, 1 + below(random, 4));
        break;
      default:
        bytes.insert(at, random_bytes(random, 1 + below(random, 4)));
    }
  }
  return bytes;
}

std::string random_input(Random& random) {
  switch (below(random, 3)) {
    case 0:
      return random_bytes(random, 1 + below(random, 3000));
    case 1:
      return random_pieces(random);
    default:
      return mutated_request(random);
  }
}

// Feeds everything, in pieces of `step` bytes; what came of it, as text.
std::string outcome_of(const std::string& bytes, std::size_t step) {
  RequestParser parser({.header_bytes_max = 2000, .body_bytes_max = 2000});
  std::string outcome;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    std::string input = bytes.substr(at, step);
    while (!input.empty() && parser.state() != RequestParser::State::failed) {
      input.erase(0, parser.feed(input));
      if (parser.state() != RequestParser::State::complete) continue;
      const HttpRequest request = parser.take();
      outcome += request.method + " " + request.target + " " + request.body + "\n";
    }
  }
  if (parser.state() == RequestParser::State::failed)
    outcome += std::to_string(parser.error().status);
  return outcome;
}

}  // namespace

TEST_CASE("what becomes of any bytes does not depend on how they are split") {
  Random random(20240601);
  for (int i = 0; i < 3000; ++i) {
    const std::string bytes = random_input(random);
    const std::string whole = outcome_of(bytes, bytes.size());
    INFO(bytes);
    REQUIRE(outcome_of(bytes, 1) == whole);
    REQUIRE(outcome_of(bytes, 1 + below(random, 50)) == whole);
  }
}

TEST_CASE_METHOD(GarbageFixture, "any bytes end in an error or a close, and the server lives on") {
  Random random(20240602);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::unique_ptr<Client>> clients;
    std::vector<Client*> all;
    for (int i = 0; i < 25; ++i) {
      clients.push_back(std::make_unique<Client>(socket_path));
      all.push_back(clients.back().get());
      all.back()->send(random_input(random));
      if (below(random, 2) == 0) all.back()->shut_down_writing();
    }
    run_until(
        [&] {
          return std::all_of(all.begin(), all.end(),
                             [](const Client* client) { return client->is_closed; });
        },
        all);
    for (const Client* client : all) {
      for (const ReceivedResponse& response : parse_responses(client->received)) {
        INFO(response.header);
        const bool is_expected = response.status == 100 || response.status == 200 ||
                                 (response.status >= 400 && response.status < 500) ||
                                 response.status == 501 || response.status == 505;
        CHECK(is_expected);
      }
    }
  }
  Client sane(socket_path);
  sane.send(get("/still/there"));
  run_until_responses(sane, 1);
  CHECK(parse_responses(sane.received).at(0).body == "GET /still/there ");
}

TEST_CASE_METHOD(GarbageFixture, "clients that vanish at any point leave nothing behind") {
  Random random(20240603);
  for (int round = 0; round < 300; ++round) {
    Client client(socket_path);
    client.send(random_input(random));
    for (std::size_t turns = below(random, 4); turns > 0; --turns)
      uv_run(loop->get(), UV_RUN_NOWAIT);
    client.vanish();
  }
  run_until([&] { return server->connection_count() == 0; });
}
