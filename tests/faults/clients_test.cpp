// Clients that are slow, dead or half-open, a thousand of them, and an operator who reloads without
// end: whoever behaves is served meanwhile, and nothing is left.

#include <algorithm>
#include <csignal>
#include <set>
#include <stdexcept>
#include <thread>

#include "faults/faulty_daemon.hpp"

using namespace paddock::faults;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

std::string detached_body() {
  json body = quick();
  body["detach"] = true;
  return body.dump();
}

}  // namespace

TEST_CASE(
    "a thousand connections that say nothing, or half a request, keep nobody from being served") {
  FaultyDaemon faulty;
  std::vector<std::unique_ptr<HttpConnection>> connections;
  constexpr int clients = 1000;
  for (int client = 0; client < clients; ++client) {
    connections.push_back(std::make_unique<HttpConnection>(faulty->socket()));
    if (client % 3 == 1) connections.back()->send("POST /v1/runs HTTP/1.1\r\nContent-");
    if (client % 3 == 2) connections.back()->shut_down_writing();
  }
  // One more is told that there are too many, or hung up on: in any case it is no hang.
  try {
    const HttpReply reply = faulty->get("/health");
    CHECK(reply.status == 503);
  } catch (const std::runtime_error& closed) {
    CHECK(std::string(closed.what()).find("ended early") != std::string::npos);
  }
  for (int client = 0; client < clients; client += 2)
    connections[static_cast<std::size_t>(client)]->vanish();
  CHECK(eventually([&] { return faulty->health("status") == "ok"; }));
  CHECK(faulty.run(quick())["result"]["cause"] == "exited");
  connections.clear();
  faulty.check_nothing_left();
}

// A run that its client was told of goes on without it; one that it was not told of need not.
TEST_CASE("clients that ask and are gone at once leave their detached runs to end, once each") {
  FaultyDaemon faulty;
  const int clients = repetitions("FAULT_KILLS", 60);
  const std::size_t before = faulty->get("/v1/runs").json()["runs"].size();
  const std::string body = detached_body();
  std::set<std::string> told;
  for (int client = 0; client < clients; ++client) {
    HttpConnection connection(faulty->socket());
    connection.send_request("POST", "/v1/runs", body);
    if (client % 2 == 0) connection.shut_down_writing();
    if (client % 4 == 1) told.insert(connection.receive_reply().json()["id"]);
    connection.vanish();
  }
  const auto runs = [&] { return faulty->get("/v1/runs").json()["runs"]; };
  CHECK(eventually(
      [&] {
        const json all = runs();
        return std::all_of(all.begin(), all.end(),
                           [](const json& run) { return run["state"] == "finished"; });
      },
      seconds(30)));
  CHECK(runs().size() <= before + static_cast<std::size_t>(clients));
  for (const json& run : runs()) {
    const std::string id = run["id"];
    faulty.know(id);
    const bool has_ended = run["result"]["cause"] == "exited";
    CHECK((has_ended || (!told.contains(id) && run["result"]["cause"] == "killed_by_request")));
  }
  faulty.check_nothing_left();
}

TEST_CASE("a storm of SIGHUP under load changes no outcome") {
  // Without profiles that are probed again: a reload of the same files probes nothing.
  FaultyDaemon faulty;
  constexpr int signals = 1000;
  constexpr int runs = 40;
  std::thread storm([pid = faulty->pid()] {
    for (int sent = 0; sent < signals; ++sent) {
      ::kill(pid, SIGHUP);
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  std::vector<std::string> ids;
  for (int started = 0; started < runs; ++started) ids.push_back(faulty->start(quick()));
  storm.join();
  for (const std::string& id : ids) {
    faulty.know(id);
    const json run = faulty->finished(id);
    CHECK(run["result"]["cause"] == "exited");
    CHECK(run["result"]["stdout"] == "x\n");
  }
  CHECK(faulty->health("config_stale") == false);
  faulty.check_nothing_left();
}
