// POST /v1/runs that waits for its end.

#include "support/daemon_fixture.hpp"

using nlohmann::json;

TEST_CASE("a waiting run answers with its outcome, its output and what confined it") {
  const DaemonFixture daemon;
  const json run = daemon.run({{"profile", "OFF"},
                               {"argv", {"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}},
                               {"tenant", "team-a"}});
  CHECK(run["id"].get<std::string>().size() == 18);
  CHECK(run["state"] == "finished");
  CHECK(run["profile"] == "OFF");
  CHECK(run["agent"].is_null());
  CHECK(run["tenant"] == "team-a");
  CHECK(run["argv"] == json({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}));
  CHECK(run["created_at"].get<std::string>().size() == 24);
  const json& result = run["result"];
  CHECK(result["cause"] == "exited");
  CHECK(result["exit_code"] == 3);
  CHECK(result["signal"] == 0);
  CHECK(result["stdout"] == "out\n");
  CHECK(result["stdout_bytes"] == 4);
  CHECK(result["stdout_truncated"] == false);
  CHECK(result["stderr"] == "err\n");
  CHECK(result["timed_out"] == false);
  CHECK(result["killed"] == false);
  CHECK(result["rlimit_hit"].is_null());
  CHECK(result["duration_s"].get<double>() < 5);
  CHECK(run["confinement"]["no_new_privs"] == true);
  CHECK(run["confinement"]["capabilities"] == "0000000000000000");
  CHECK(run["confinement"]["policy_hash"].get<std::string>().size() == 64);
}

TEST_CASE("the three profiles each run a real program") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  for (const char* profile : {"OFF", "DEFAULT", "STRICT"}) {
    INFO(profile);
    const json primes = daemon.run({{"profile", profile},
                                    {"argv",
                                     {"python3", "-c",
                                      "print(sum(n for n in range(2, 2000) if all(n % d for d in "
                                      "range(2, int(n**.5)+1))))"}}});
    CHECK(primes["result"]["exit_code"] == 0);
    CHECK(primes["result"]["stdout"] == "277050\n");
    const json git = daemon.run({{"profile", profile}, {"argv", {"git", "--version"}}});
    CHECK(git["result"]["exit_code"] == 0);
    CHECK(git["result"]["stdout"].get<std::string>().starts_with("git version "));
    const json threads = daemon.run(
        {{"profile", profile},
         {"argv",
          {"python3", "-c",
           "from multiprocessing import Pool\n"
           "if __name__ == '__main__':\n  print(sum(Pool(2).map(abs, range(-10, 1))))"}}});
    CHECK(threads["result"]["stdout"] == "55\n");
  }
}

TEST_CASE("a request that names no profile runs under DEFAULT") {
  const DaemonFixture daemon;
  CHECK(daemon.run({{"argv", {"true"}}})["profile"] == "DEFAULT");
}

TEST_CASE("input comes as text or as base64, and end of file follows it") {
  const DaemonFixture daemon;
  json request = {{"profile", "OFF"}, {"argv", {"cat"}}, {"stdin", "h\u00e9llo"}};
  CHECK(daemon.run(request)["result"]["stdout"] == "h\u00e9llo");
  request = {{"profile", "OFF"}, {"argv", {"od", "-An", "-tx1"}}, {"stdin_base64", "AP8Kgw=="}};
  CHECK(daemon.run(request)["result"]["stdout"] == " 00 ff 0a 83\n");
  request = {{"profile", "OFF"}, {"argv", {"cat"}}};
  CHECK(daemon.run(request)["result"]["stdout"] == "");
}

TEST_CASE("a megabyte of input that nobody reads does not hold up the run") {
  const DaemonFixture daemon;
  const json run =
      daemon.run({{"profile", "OFF"}, {"argv", {"true"}}, {"stdin", std::string(1 << 20, 'x')}});
  CHECK(run["result"]["exit_code"] == 0);
}

TEST_CASE("output that is not UTF-8 comes as base64") {
  const DaemonFixture daemon;
  const json result = daemon.run(shell("printf '\\377\\376\\000'; printf 'fine' >&2"))["result"];
  CHECK(result["stdout_base64"] == "//4A");
  CHECK_FALSE(result.contains("stdout"));
  CHECK(result["stdout_bytes"] == 3);
  CHECK(result["stderr"] == "fine");
}

TEST_CASE("a program that is not there, and one that a signal ends, say so") {
  const DaemonFixture daemon;
  const json missing = daemon.run({{"profile", "OFF"}, {"argv", {"/no/such/program"}}})["result"];
  CHECK(missing["cause"] == "cannot_execute");
  CHECK(missing["exec_errno"] == 2);
  CHECK(missing["exit_code"] == 127);
  const json signaled = daemon.run(shell("kill -SEGV $$"))["result"];
  CHECK(signaled["cause"] == "signaled");
  CHECK(signaled["signal"] == 11);
  CHECK(signaled["exit_code"] == -11);
}

TEST_CASE("only variables that the profile allows reach the run, and never a loader's") {
  const DaemonFixture daemon;
  json request = shell("echo $TZ; env | grep -c SECRET");
  request["env"] = {{"TZ", "Asia/Tokyo"}};
  CHECK(daemon.run(request)["result"]["stdout"] == "Asia/Tokyo\n0\n");

  request["env"] = {{"SECRET", "1"}};
  const HttpReply unknown = daemon.post("/v1/runs", request);
  CHECK(unknown.status == 422);
  CHECK(unknown.error_code() == "sandbox_policy_error");
  CHECK(unknown.error_message().find("'SECRET'") != std::string::npos);

  request["env"] = {{"LD_PRELOAD", "/tmp/x.so"}};
  const HttpReply hijack = daemon.post("/v1/runs", request);
  CHECK(hijack.status == 422);
  CHECK(hijack.error_message().find("LD_PRELOAD") != std::string::npos);
}

TEST_CASE("nothing of the daemon's own environment reaches a run") {
  const DaemonFixture daemon({.environment = {{"DAEMON_SECRET", "42"}}});
  const json result = daemon.run({{"profile", "OFF"}, {"argv", {"env"}}})["result"];
  CHECK(result["stdout"].get<std::string>().find("DAEMON_SECRET") == std::string::npos);
  CHECK(result["stdout"].get<std::string>().find("HOME=") != std::string::npos);
}

TEST_CASE("a request may tighten its profile, and is refused with the field when it loosens it") {
  const DaemonFixture daemon;
  json request = {{"profile", "DEFAULT"}, {"argv", {"sh", "-c", "ulimit -n; ulimit -t"}}};
  request["limits"] = {{"nofile", 64}, {"cpu_seconds", 7}};
  const json run = daemon.run(request);
  CHECK(run["result"]["stdout"] == "64\n7\n");
  CHECK(run["confinement"]["rlimits"]["nofile"] == "64");
  CHECK(run["confinement"]["rlimits"]["cpu_seconds"] == "7");

  const std::pair<const char*, json> looser[] = {
      {"wall_seconds", 5000},      {"cpu_seconds", 301}, {"memory_bytes", "3GiB"},
      {"fsize_bytes", "2GiB"},     {"nproc", 65},        {"nofile", 1025},
      {"output_bytes", "1024MiB"},
  };
  for (const auto& [field, value] : looser) {
    request["limits"] = {{field, value}};
    const HttpReply reply = daemon.post("/v1/runs", request);
    INFO(reply.body);
    CHECK(reply.status == 422);
    CHECK(reply.error_code() == "sandbox_policy_error");
    CHECK(reply.error_message().find(field) != std::string::npos);
  }
}

TEST_CASE("a bind or a network that the profile does not grant is refused") {
  const DaemonFixture daemon;
  for (const json& addition :
       {json{{"bind_ro", {"/etc"}}}, json{{"bind_rw", {"/var/tmp"}}}, json{{"network", true}}}) {
    json request = {{"profile", "STRICT"}, {"argv", {"true"}}};
    request.update(addition);
    const HttpReply reply = daemon.post("/v1/runs", request);
    INFO(reply.body);
    CHECK(reply.status == 422);
    CHECK(reply.error_message().find(addition.begin().key()) != std::string::npos);
  }
}

TEST_CASE("cwd and workdir say where the program starts") {
  const DaemonFixture daemon;
  json request = shell("pwd");
  request["cwd"] = "/usr/share";
  CHECK(daemon.run(request)["result"]["stdout"] == "/usr/share\n");
  request["workdir"] = "/usr/lib";
  CHECK(daemon.run(request)["result"]["stdout"] == "/usr/lib\n");
}

TEST_CASE("an unknown profile, agent, call or method is answered with what there is") {
  const DaemonFixture daemon;
  const HttpReply profile = daemon.post("/v1/runs", {{"profile", "NOWHERE"}, {"argv", {"true"}}});
  CHECK(profile.status == 404);
  CHECK(profile.error_code() == "unknown_profile");
  CHECK(profile.error_message().find("'STRICT'") != std::string::npos);
  const HttpReply agent = daemon.post("/v1/runs", {{"agent", "nowhere"}});
  CHECK(agent.status == 404);
  CHECK(agent.error_code() == "unknown_agent");
  CHECK(agent.error_message().find("'python'") != std::string::npos);
  const HttpReply call = daemon.get("/v1/nothing");
  CHECK(call.status == 404);
  CHECK(call.error_code() == "not_found");
  const HttpReply method = http(daemon.socket(), "PUT", "/v1/runs");
  CHECK(method.status == 405);
  CHECK(method.header("Allow") == "POST, GET");
}
