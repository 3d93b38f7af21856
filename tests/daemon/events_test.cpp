// GET /v1/events: the ledger as a stream.

#include <thread>

#include "support/daemon_fixture.hpp"

using nlohmann::json;

namespace {

std::vector<json> events(const DaemonFixture& daemon, const std::string& query) {
  const HttpReply reply = daemon.get("/v1/events" + query);
  INFO(reply.body);
  REQUIRE(reply.status == 200);
  std::vector<json> all;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = reply.body.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    if (end > begin) all.push_back(json::parse(reply.body.substr(begin, end - begin)));
  return all;
}

}  // namespace

TEST_CASE("a run's events come oldest first, with seqs that say where to go on") {
  const DaemonFixture daemon;
  const std::string id = daemon.run(shell("true"))["id"];
  const auto all = events(daemon, "?kind=run.");
  REQUIRE(all.size() >= 3);
  CHECK(all.front()["kind"] == "run.starting");
  CHECK(all.back()["kind"] == "run.finished");
  CHECK(all.back()["subject"] == id);
  CHECK(all.back()["body"]["result"]["cause"] == "exited");
  for (const json& event : all) CHECK(event["at"].get<std::string>().ends_with("Z"));
  const auto rest = events(daemon, "?kind=run.&after=" + all.front()["seq"].dump());
  CHECK(rest == std::vector<json>(all.begin() + 1, all.end()));
  CHECK(events(daemon, "?limit=2").size() == 2);
  CHECK(events(daemon, "?after=1000000").empty());
  CHECK(events(daemon, "?kind=nothing.").empty());
}

TEST_CASE("bad parameters of events are named") {
  const DaemonFixture daemon;
  for (const char* query : {"?after=-1", "?after=x", "?after=99999999999999999999", "?limit=0",
                            "?follow=maybe", "?kind=%25", "?kind=run'", "?knid=run."}) {
    INFO(query);
    CHECK(daemon.get(std::string("/v1/events") + query).status == 400);
  }
}

TEST_CASE("who follows hears of each event as it happens, and goes on where it was cut off") {
  const DaemonFixture daemon;
  daemon.run(shell("true"));
  HttpConnection follower(daemon.socket());
  follower.send_request("GET", "/v1/events?follow=true&kind=run.finished");
  CHECK(follower.receive_head().status == 200);
  const json first = follower.receive_event();
  CHECK(first["kind"] == "run.finished");
  const std::string later = daemon.run(shell("exit 2"))["id"];
  const json second = follower.receive_event();
  CHECK(second["subject"] == later);
  follower.vanish();
  const std::string meanwhile = daemon.run(shell("exit 3"))["id"];
  HttpConnection again(daemon.socket());
  again.send_request("GET",
                     "/v1/events?follow=true&kind=run.finished&after=" + second["seq"].dump());
  CHECK(again.receive_head().status == 200);
  CHECK(again.receive_event()["subject"] == meanwhile);
}

// Goal: who does not read costs the daemon one page, and misses nothing when it reads again.
TEST_CASE("a follower that falls behind is read for again, from the ledger") {
  const DaemonFixture daemon;
  HttpConnection follower(daemon.socket());
  follower.send_request("GET", "/v1/events?follow=true");
  CHECK(follower.receive_head().status == 200);
  const std::string long_word(20'000, 'x');
  constexpr int runs = 60;
  for (int i = 0; i < runs; ++i)
    CHECK(
        daemon.post("/v1/runs", {{"profile", "OFF"}, {"argv", {"/bin/echo", long_word}}}).status ==
        200);
  int finished = 0;
  std::uint64_t last = 0;
  while (finished < runs) {
    const json event = follower.receive_event();
    REQUIRE(event["seq"] == last + 1);
    last = event["seq"];
    finished += event["kind"] == "run.finished";
  }
  CHECK(daemon.get("/healthz").status == 200);
}

TEST_CASE("many followers at once each hear of everything") {
  const DaemonFixture daemon;
  std::vector<std::unique_ptr<HttpConnection>> followers;
  for (int i = 0; i < 20; ++i) {
    followers.push_back(std::make_unique<HttpConnection>(daemon.socket()));
    followers.back()->send_request("GET", "/v1/events?follow=true&kind=run.finished&limit=3");
    CHECK(followers.back()->receive_head().status == 200);
  }
  for (int i = 0; i < 3; ++i) daemon.run(shell("true"));
  for (const auto& follower : followers) {
    for (int i = 0; i < 3; ++i) CHECK(follower->receive_event()["kind"] == "run.finished");
    CHECK(follower->receive_event().is_null());  // its limit
  }
}
