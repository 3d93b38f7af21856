// Responses that are written piece by piece, and clients that read slowly.

#include "http_fixture.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using namespace std::chrono_literals;

namespace {

struct StreamFixture : HttpFixture {
  explicit StreamFixture(ServerConfig config = {}) : HttpFixture(std::move(config)) {
    handler = [this](const HttpRequest&, Exchange pending) {
      exchange = std::move(pending);
      exchange.begin_stream({.content_type = "application/x-ndjson"});
    };
  }

  void open_stream(Client& client, const std::string& request = get("/")) {
    client.send(request);
    run_until([&] { return exchange.is_open(); });
  }

  Exchange exchange;
};

ServerConfig impatient() {
  ServerConfig config;
  config.write_stall_timeout = 150ms;
  return config;
}

struct ImpatientStreamFixture : StreamFixture {
  ImpatientStreamFixture() : StreamFixture(impatient()) {}
};

}  // namespace

TEST_CASE_METHOD(StreamFixture, "what is written arrives at once, and the next request follows") {
  Client client(socket_path);
  open_stream(client);
  CHECK(exchange.write("one\n") == WriteResult::accepted);
  run_until([&] { return client.received.ends_with("4\r\none\n\r\n"); }, {&client});
  CHECK(exchange.write("") == WriteResult::accepted);
  CHECK(exchange.write("two\n") == WriteResult::accepted);
  exchange.end();
  CHECK_FALSE(exchange.is_open());
  run_until_responses(client, 1);
  const auto responses = parse_responses(client.received);
  REQUIRE(responses.size() == 1);
  CHECK(responses[0].is_complete);
  CHECK(responses[0].body == "one\ntwo\n");
  CHECK_FALSE(client.is_closed);

  open_stream(client);
  exchange.end();
  run_until_responses(client, 2);
}

TEST_CASE_METHOD(StreamFixture, "a handler may stream and end at once") {
  handler = [](const HttpRequest&, const Exchange& at_once) {
    at_once.begin_stream({});
    at_once.write("all");
    at_once.end();
  };
  Client client(socket_path);
  client.send(get("/1") + get("/2"));
  run_until_responses(client, 2);
  CHECK(parse_responses(client.received).at(1).body == "all");
}

TEST_CASE_METHOD(StreamFixture, "an HTTP/1.0 client gets the bare bytes up to the close") {
  Client client(socket_path);
  open_stream(client, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  exchange.write("one\n");
  exchange.write("two\n");
  exchange.end();
  run_until_closed(client);
  CHECK(client.received.find("Transfer-Encoding") == std::string::npos);
  CHECK(client.received.find("Connection: close\r\n") != std::string::npos);
  CHECK(client.received.ends_with("\r\n\r\none\ntwo\n"));
}

TEST_CASE_METHOD(StreamFixture, "the answer to HEAD streams nothing") {
  Client client(socket_path);
  open_stream(client, "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  CHECK(exchange.write("one\n") == WriteResult::accepted);
  exchange.end();
  run_until_closed(client);
  CHECK(client.received.ends_with("\r\n\r\n"));
}

TEST_CASE_METHOD(StreamFixture, "a half-closed client gets the whole stream") {
  Client client(socket_path);
  open_stream(client);
  client.shut_down_writing();
  for (int i = 0; i < 5; ++i) {
    exchange.write("event\n");
    run_for(10ms, {&client});
  }
  exchange.end();
  run_until_closed(client);
  CHECK(parse_responses(client.received).at(0).body == "event\nevent\nevent\nevent\nevent\n");
}

TEST_CASE_METHOD(StreamFixture,
                 "a writer is told when the queue is full, and when it has emptied") {
  // Goal: a handler that stops at `full` and goes on at on_drained sends everything with a bounded
  // queue. Method: 8 MB to a client that reads a little at a time.
  const std::string piece(50'000, 'x');
  constexpr int pieces = 160;
  int written = 0;
  int drained = 0;
  const auto fill = [&] {
    while (written < pieces) {
      ++written;
      if (exchange.write(piece) == WriteResult::full) return;
    }
    exchange.end();
  };
  Client client(socket_path);
  open_stream(client);
  exchange.on_drained([&] {
    ++drained;
    fill();
  });
  fill();
  run_for(20ms);  // the client reads nothing
  CHECK(written < 20);
  CHECK(drained == 0);
  run_until([&] {
    client.move(100'000);
    return client.received.ends_with("0\r\n\r\n");
  });
  CHECK(drained > 5);
  CHECK(parse_responses(client.received).at(0).body.size() == pieces * piece.size());
}

TEST_CASE_METHOD(StreamFixture, "a handler may end the stream when its queue has emptied") {
  Client client(socket_path);
  open_stream(client);
  const std::string text(100, 'x');  // a capture on the heap, for the sanitizer
  exchange.on_drained([this, text] {
    exchange.end();
    CHECK(text.size() == 100);
  });
  REQUIRE(exchange.write(std::string(1'000'000, 'x')) == WriteResult::full);
  run_until_responses(client, 1);
  CHECK(parse_responses(client.received).at(0).is_complete);
}

TEST_CASE_METHOD(ImpatientStreamFixture, "a client that stops reading is given up as gone") {
  Client client(socket_path);
  open_stream(client);
  int gone = 0;
  exchange.on_client_gone([&] { ++gone; });
  REQUIRE(exchange.write(std::string(2'000'000, 'x')) == WriteResult::full);
  run_until([&] { return gone == 1; });
  CHECK_FALSE(exchange.is_open());
  CHECK(server->connection_count() == 0);
}

TEST_CASE_METHOD(ImpatientStreamFixture, "a client that reads slowly but surely is not given up") {
  Client client(socket_path);
  open_stream(client);
  REQUIRE(exchange.write(std::string(2'000'000, 'x')) == WriteResult::full);
  exchange.end();
  for (int i = 0; i < 40 && !client.received.ends_with("0\r\n\r\n"); ++i) {
    client.move(100'000);
    run_for(15ms);
  }
  CHECK(parse_responses(client.received).at(0).is_complete);
}

TEST_CASE_METHOD(ImpatientStreamFixture, "a quiet stream is no stall") {
  Client client(socket_path);
  open_stream(client);
  run_for(250ms, {&client});
  CHECK(exchange.write("still here\n") == WriteResult::accepted);
  exchange.end();
  run_until_responses(client, 1);
  CHECK(parse_responses(client.received).at(0).body == "still here\n");
}
