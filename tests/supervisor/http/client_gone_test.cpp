// A client that disappears while its request is being answered.

#include "http_fixture.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using namespace std::chrono_literals;

namespace {

// Keeps the exchange of every request open and counts the clients that went away.
struct PendingFixture : HttpFixture {
  explicit PendingFixture(ServerConfig config = {}) : HttpFixture(std::move(config)) {
    handler = [this](const HttpRequest&, const Exchange& exchange) {
      exchanges.push_back(exchange);
      exchange.on_client_gone([this] { ++gone; });
    };
  }

  void send_and_wait(Client& client, std::string_view bytes) {
    const std::size_t before = exchanges.size();
    client.send(bytes);
    run_until([&] { return exchanges.size() > before; }, {&client});
  }

  std::vector<Exchange> exchanges;
  int gone = 0;
};

}  // namespace

TEST_CASE_METHOD(PendingFixture, "a client that vanishes while it waits is noticed once") {
  Client client(socket_path);
  send_and_wait(client, get("/"));
  client.vanish();
  run_until([&] { return gone > 0; });
  CHECK_FALSE(exchanges[0].is_open());
  exchanges[0].respond({.body = "too late"});
  run_for(20ms);
  CHECK(gone == 1);
  CHECK(server->connection_count() == 0);
}

TEST_CASE_METHOD(PendingFixture, "a client that half-closes first and vanishes later is noticed") {
  Client client(socket_path);
  send_and_wait(client, get("/"));
  client.shut_down_writing();
  run_for(30ms, {&client});
  CHECK(gone == 0);
  client.vanish();
  run_until([&] { return gone == 1; });
}

TEST_CASE_METHOD(PendingFixture,
                 "a client that vanishes with requests in its pipeline is noticed") {
  Client client(socket_path);
  send_and_wait(client, get("/1") + get("/2") + std::string(100'000, 'x'));
  client.vanish();
  run_until([&] { return gone == 1; });
  run_for(20ms);
  CHECK(exchanges.size() == 1);
}

TEST_CASE_METHOD(PendingFixture, "a client that vanishes at once after its request is noticed") {
  Client client(socket_path);
  client.send(get("/"));
  client.vanish();
  run_until([&] { return gone == 1; });
}

TEST_CASE_METHOD(PendingFixture, "a client that vanishes from an open stream is noticed") {
  Client client(socket_path);
  send_and_wait(client, get("/"));
  exchanges[0].begin_stream({});
  exchanges[0].write("event\n");
  run_until([&] { return client.received.find("event") != std::string::npos; }, {&client});
  client.vanish();
  run_until([&] { return gone == 1; });
  CHECK(exchanges[0].write("event\n") == WriteResult::gone);
}

TEST_CASE_METHOD(PendingFixture, "a client that vanishes behind a full queue is noticed") {
  Client client(socket_path);
  send_and_wait(client, get("/"));
  exchanges[0].begin_stream({});
  CHECK(exchanges[0].write(std::string(2'000'000, 'x')) == WriteResult::full);
  client.vanish();
  run_until([&] { return gone == 1; });
}

TEST_CASE_METHOD(PendingFixture, "a failing write never calls back from within itself") {
  Client client(socket_path);
  send_and_wait(client, get("/"));
  exchanges[0].begin_stream({});
  client.vanish();
  exchanges[0].write("event\n");  // the loop has not noticed yet: the socket is broken already
  CHECK(gone == 0);
  CHECK(exchanges[0].is_open());
  run_until([&] { return gone == 1; });
}

TEST_CASE_METHOD(PendingFixture, "a client that leaves after its response is not called gone") {
  Client client(socket_path);
  send_and_wait(client, get("/"));
  exchanges[0].respond({});
  client.vanish();
  run_until([&] { return server->connection_count() == 0; });
  CHECK(gone == 0);
}

TEST_CASE_METHOD(PendingFixture, "a handler may give up, and hears nothing of it") {
  Client client(socket_path);
  send_and_wait(client, get("/"));
  exchanges[0].begin_stream({});
  exchanges[0].write("half an ev");
  exchanges[0].abort();
  run_until_closed(client);
  CHECK_FALSE(parse_responses(client.received).at(0).is_complete);
  CHECK(gone == 0);
}

TEST_CASE_METHOD(PendingFixture, "out-of-band bytes do not spin the loop") {
  // Goal: the hang-up watch uses the priority event, which such bytes raise for ever.
  Client client(socket_path);
  send_and_wait(client, get("/"));
  if (!client.send_out_of_band()) return;  // kernels before 5.15 have none on Unix sockets
  run_until([&] { return gone == 1; });
}

TEST_CASE_METHOD(PendingFixture, "closing the server tells every handler") {
  Client first(socket_path);
  Client second(socket_path);
  send_and_wait(first, get("/1"));
  send_and_wait(second, get("/2"));
  server->close();
  CHECK(gone == 2);
  run_until([&] { return first.is_closed && second.is_closed; }, {&first, &second});
}

TEST_CASE_METHOD(PendingFixture, "one client's end may end another's exchange") {
  Client first(socket_path);
  Client second(socket_path);
  send_and_wait(first, get("/1"));
  send_and_wait(second, get("/2"));
  exchanges[0].on_client_gone([&] { exchanges[1].abort(); });
  exchanges[1].on_client_gone([&] { exchanges[0].abort(); });
  server->close();
  run_until([&] { return first.is_closed && second.is_closed; }, {&first, &second});
}
