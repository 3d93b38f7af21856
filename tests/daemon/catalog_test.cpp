// Profiles, agents, plans, the host, health, and the trainer's socket.

#include "support/daemon_fixture.hpp"

using nlohmann::json;

TEST_CASE("the shipped profiles are listed as loaded, each also by its name") {
  const DaemonFixture daemon;
  const json profiles = daemon.get("/v1/profiles").json()["profiles"];
  std::vector<std::string> names;
  for (const json& profile : profiles) names.push_back(profile["name"]);
  CHECK(names ==
        std::vector<std::string>{"DEFAULT", "GO", "JVM", "NODE", "OFF", "SEALED", "STRICT"});
  const json strict = daemon.get("/v1/profiles/STRICT").json();
  CHECK(strict == profiles.back());
  CHECK(strict["limits"]["nproc"] == 16);
  CHECK(strict["limits"]["memory_bytes"] == 512 << 20);
  CHECK(strict["limits"]["wall_seconds"] == 300);
  CHECK(strict["isolation"]["use_bubblewrap"] == true);
  CHECK(strict["isolation"]["deny_network"] == true);
  CHECK(strict["source"].get<std::string>().ends_with("/strict.toml"));
  const json off = daemon.get("/v1/profiles/OFF").json();
  CHECK(off["limits"]["nproc"].is_null());
  CHECK(off["limits"]["wall_seconds"].is_null());
  const HttpReply unknown = daemon.get("/v1/profiles/strict");
  CHECK(unknown.status == 404);
  CHECK(unknown.error_code() == "unknown_profile");
}

TEST_CASE("the operator's profile takes the place of the shipped one of its name") {
  const DaemonFixture daemon(
      {.profiles = {{"mine.toml", "name = \"OFF\"\n[limits]\nwall_seconds = 7\n"}}});
  const json off = daemon.get("/v1/profiles/OFF").json();
  CHECK(off["limits"]["wall_seconds"] == 7);
  CHECK(off["source"] == daemon.directory().path("profiles/mine.toml"));
}

TEST_CASE("an agent is a template: its command, its profile, the request's further arguments") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon(
      {.agents = {{"echo.toml",
                   "name = \"echoer\"\nprofile = \"DEFAULT\"\ncommand = [\"echo\", \"-n\"]\n"
                   "[environment]\nset = {GREETING = \"hi\"}\n"}}});
  const json agent = daemon.get("/v1/agents/echoer").json();
  CHECK(agent["command"] == json({"echo", "-n"}));
  CHECK(agent["profile"] == "DEFAULT");
  CHECK(agent["environment"] == json({{"GREETING", "hi"}}));
  CHECK(daemon.get("/v1/agents").json()["agents"].size() == 4);
  CHECK(daemon.get("/v1/agents/none").error_code() == "unknown_agent");

  const json run = daemon.run({{"agent", "echoer"}, {"argv", {"a", "b"}}});
  CHECK(run["agent"] == "echoer");
  CHECK(run["profile"] == "DEFAULT");
  CHECK(run["argv"] == json({"echo", "-n", "a", "b"}));
  CHECK(run["result"]["stdout"] == "a b");
  CHECK(daemon.run({{"agent", "echoer"}, {"profile", "DEFAULT"}})["result"]["stdout"] == "");
  const json python = daemon.run({{"agent", "python"}, {"stdin", "print(6 * 7)"}});
  CHECK(python["profile"] == "STRICT");
  CHECK(python["result"]["stdout"] == "42\n");

  const HttpReply other = daemon.post("/v1/runs", {{"agent", "echoer"}, {"profile", "OFF"}});
  CHECK(other.status == 422);
  CHECK(other.error_code() == "sandbox_policy_error");
  CHECK(other.error_message().find("'DEFAULT'") != std::string::npos);
}

TEST_CASE("a plan says what would happen, and nothing starts") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  const std::string marker = unique_marker();
  const json plan =
      daemon.post("/v1/plan", {{"profile", "STRICT"}, {"argv", {"sleep", "300", marker}}}).json();
  CHECK(plan["profile"] == "STRICT");
  CHECK(plan["argv"] == json({"sleep", "300", marker}));
  CHECK(plan["rlimits"]["nproc"] == 16);
  CHECK(plan["namespaces"] == json({"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"}));
  CHECK(plan["wall_seconds"] == 300);
  CHECK(plan["policy"].get<std::string>().find("use_bubblewrap = true") != std::string::npos);
  CHECK(plan["bubblewrap_args"].size() > 20);
  CHECK(processes_with(marker).empty());
  CHECK(daemon.get("/v1/runs").json()["runs"].empty());

  const json off = daemon.post("/v1/plan", {{"profile", "OFF"}, {"argv", {"true"}}}).json();
  CHECK(off["bubblewrap_args"].empty());
  CHECK(off["wrapper"].empty());
  CHECK(off["wall_seconds"].is_null());
  CHECK(daemon.post("/v1/plan", {{"profile", "NONE"}, {"argv", {"true"}}}).status == 404);
  CHECK(daemon.post("/v1/plan", {{"argv", json::array()}}).status == 400);
}

TEST_CASE("the plan's policy hash is the one of the run that follows it") {
  const DaemonFixture daemon;
  json request = shell("true");
  request["limits"] = {{"nofile", 99}};
  const json plan = daemon.post("/v1/plan", request).json();
  CHECK(daemon.run(request)["confinement"]["policy_hash"] == plan["policy_hash"]);
}

TEST_CASE("the host is described, and health counts the runs") {
  const DaemonFixture daemon({.config = "cgroup_base = \"none\"\n[limits]\nruns_alive = 1\n"});
  const json host = daemon.get("/v1/host").json();
  CHECK(host["uid"] == ::geteuid());
  CHECK(host["kernel"].get<std::string>().find('.') != std::string::npos);
  CHECK(host["cgroup_base"] == "");
  CHECK(host["cgroup_problem"] == "");
  CHECK(host["user_namespaces"].is_boolean());
  CHECK(host.contains("bubblewrap_version"));

  CHECK(daemon.get("/health").json() ==
        json({{"status", "ok"},
              {"ledger", "writing"},
              {"config_stale", false},
              {"profiles_refused", 0},
              {"runs_alive", 0},
              {"runs_queued", 0},
              {"warm", {{"ready", 0}, {"busy", 0}, {"starting", 0}}}}));
  daemon.wait_until_started(daemon.start(shell("sleep 300")));
  daemon.start(shell("sleep 300"));
  const json busy = daemon.get("/health").json();
  CHECK(busy["runs_alive"] == 1);
  CHECK(busy["runs_queued"] == 1);
}

TEST_CASE("the trainer's socket answers health and the trainer's calls alone") {
  const DaemonFixture daemon;
  CHECK(http(daemon.trainer_socket(), "GET", "/health").json()["status"] == "ok");
  for (const char* target : {"/v1/runs", "/v1/profiles", "/v1/host", "/v1/agents"}) {
    INFO(target);
    CHECK(http(daemon.trainer_socket(), "GET", target).error_code() == "not_found");
  }
  CHECK(http(daemon.trainer_socket(), "POST", "/v1/runs", shell("true")).status == 404);
  // The doors are there too: this one takes POST alone.
  CHECK(http(daemon.trainer_socket(), "GET", "/verify").status == 405);
}
