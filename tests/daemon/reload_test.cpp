// SIGHUP and POST /v1/reload: the whole new set, or the old one and every mistake.

#include <csignal>

#include "support/daemon_fixture.hpp"

using nlohmann::json;

namespace {

std::string profile_text(int wall_seconds) {
  return "name = \"MINE\"\n[limits]\nwall_seconds = " + std::to_string(wall_seconds) + "\n";
}

// Line 3 has an unknown key, line 4 a wrong type.
constexpr const char* broken_profile =
    "name = \"MINE\"\n[limits]\nwall_second = 5\ncpu_seconds = \"many\"\n";

json wall_seconds(const DaemonFixture& daemon) {
  return daemon.get("/v1/profiles/MINE").json()["limits"]["wall_seconds"];
}

}  // namespace

TEST_CASE(
    "SIGHUP reads the profiles again, and a broken one keeps the old set until it is mended") {
  const DaemonFixture daemon({.profiles = {{"mine.toml", profile_text(10)}}});
  CHECK(wall_seconds(daemon) == 10);

  daemon.directory().write("profiles/mine.toml", profile_text(20));
  daemon.signal(SIGHUP);
  CHECK(eventually([&] { return wall_seconds(daemon) == 20; }));
  CHECK(daemon.health("config_stale") == false);

  const std::string file = daemon.directory().write("profiles/mine.toml", broken_profile);
  daemon.signal(SIGHUP);
  CHECK(eventually([&] { return daemon.health("config_stale") == true; }));
  CHECK(wall_seconds(daemon) == 20);
  const std::string log = daemon.log();
  INFO(log);
  CHECK(log.find(file + ":3:1: unknown key 'wall_second'") != std::string::npos);
  CHECK(log.find("did you mean 'wall_seconds'?") != std::string::npos);
  CHECK(log.find(file + ":4:15: ") != std::string::npos);
  CHECK(daemon.run({{"profile", "MINE"}, {"argv", {"true"}}})["result"]["exit_code"] == 0);

  daemon.directory().write("profiles/mine.toml", profile_text(30));
  daemon.signal(SIGHUP);
  CHECK(eventually([&] { return wall_seconds(daemon) == 30; }));
  CHECK(daemon.health("config_stale") == false);
}

TEST_CASE("a reload over the socket answers with counts, or with every mistake and its place") {
  const DaemonFixture daemon({.profiles = {{"mine.toml", profile_text(10)}}});
  const HttpReply good = daemon.post("/v1/reload");
  CHECK(good.status == 200);
  CHECK(good.json() == json({{"profiles", 8}, {"agents", 3}}));

  const std::string file = daemon.directory().write("profiles/mine.toml", broken_profile);
  daemon.directory().write("agents/lost.toml",
                           "name = \"lost\"\nprofile = \"NOWHERE\"\ncommand = [\"true\"]\n");
  const HttpReply bad = daemon.post("/v1/reload");
  CHECK(bad.status == 422);
  CHECK(bad.error_code() == "sandbox_policy_error");
  const json diagnostics = bad.json()["error"]["diagnostics"];
  INFO(bad.body);
  REQUIRE(diagnostics.size() == 3);
  CHECK(diagnostics[0]["file"] == file);
  CHECK(diagnostics[0]["line"] == 3);
  CHECK(diagnostics[0]["column"] == 1);
  CHECK(diagnostics[1]["line"] == 4);
  CHECK(diagnostics[2]["message"].get<std::string>().find("'NOWHERE'") != std::string::npos);
  CHECK(daemon.health("config_stale") == true);
  CHECK(wall_seconds(daemon) == 10);
  CHECK(daemon.get("/v1/agents/lost").status == 404);

  daemon.directory().write("profiles/mine.toml", profile_text(40));
  daemon.directory().write("agents/lost.toml",
                           "name = \"lost\"\nprofile = \"MINE\"\ncommand = [\"true\"]\n");
  CHECK(daemon.post("/v1/reload").json() == json({{"profiles", 8}, {"agents", 4}}));
  CHECK(daemon.health("config_stale") == false);
  CHECK(daemon.get("/v1/agents/lost").json()["profile"] == "MINE");
}

TEST_CASE("a run keeps the policy that it started with over a reload") {
  const DaemonFixture daemon(
      {.config = "[limits]\nruns_alive = 1\n", .profiles = {{"mine.toml", profile_text(300)}}});
  const std::string running = daemon.start(shell("sleep 1.2; echo survived", "MINE"));
  daemon.wait_until_started(running);
  const std::string queued = daemon.start(shell("sleep 1.2; echo survived", "MINE"));
  daemon.directory().write("profiles/mine.toml", profile_text(1));
  CHECK(daemon.post("/v1/reload").status == 200);
  const json one = daemon.finished(running);
  const json two = daemon.finished(queued);
  CHECK(one["result"]["stdout"] == "survived\n");
  CHECK(two["result"]["stdout"] == "survived\n");
  CHECK(one["confinement"]["policy_hash"] == two["confinement"]["policy_hash"]);
  const json after = daemon.run(shell("sleep 5", "MINE"));
  CHECK(after["result"]["cause"] == "wall_clock");
  CHECK(after["confinement"]["policy_hash"] != one["confinement"]["policy_hash"]);
}

TEST_CASE("a profile that is gone after a reload is unknown, and its run ends as it would have") {
  const DaemonFixture daemon({.profiles = {{"mine.toml", profile_text(300)}}});
  const std::string running = daemon.start(shell("sleep 0.5; echo x", "MINE"));
  daemon.wait_until_started(running);
  REQUIRE(::unlink(daemon.directory().path("profiles/mine.toml").c_str()) == 0);
  CHECK(daemon.post("/v1/reload").json()["profiles"] == 7);
  CHECK(daemon.post("/v1/runs", shell("true", "MINE")).error_code() == "unknown_profile");
  CHECK(daemon.finished(running)["result"]["stdout"] == "x\n");
}
