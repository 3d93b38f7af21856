// Long-running agents of the real daemon.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>

#include "support/daemon_fixture.hpp"

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

// A template under `profile` that runs a shell script.
std::string shell_agent(const std::string& name, const std::string& script,
                        const std::string& more = "", const std::string& profile = "OFF") {
  return "name = \"" + name + "\"\nprofile = \"" + profile +
         "\"\ncommand = [\"/bin/sh\", \"-c\", '''" + script + "''']\n" + more;
}

constexpr const char* quick =
    "[restart]\nbackoff_seconds = 0.05\nmax_restarts = 3\nstop_seconds = 1\n";

json status(const DaemonFixture& daemon, const std::string& name) {
  return daemon.get("/v1/agents/" + name).json()["status"];
}

json start(const DaemonFixture& daemon, const std::string& name) {
  const HttpReply reply = daemon.post("/v1/agents/" + name + "/start?wait_seconds=20");
  INFO(reply.body);
  REQUIRE(reply.status == 202);
  return reply.json()["status"];
}

void stop(const DaemonFixture& daemon, const std::string& name) {
  const HttpReply reply = daemon.post("/v1/agents/" + name + "/stop?wait_seconds=20");
  INFO(reply.body);
  REQUIRE(reply.status / 100 == 2);
  CHECK(reply.json()["status"]["state"] == "stopped");
}

bool reaches(const DaemonFixture& daemon, const std::string& name, const std::string& state) {
  return eventually([&] { return status(daemon, name)["state"] == state; }, 20s);
}

std::vector<json> log_lines(const DaemonFixture& daemon, const std::string& name,
                            unsigned lines = 1000) {
  HttpConnection connection(daemon.socket());
  connection.send_request("GET", "/v1/agents/" + name + "/logs?lines=" + std::to_string(lines));
  REQUIRE(connection.receive_head().status == 200);
  std::vector<json> found;
  for (json line = connection.receive_event(); !line.is_null(); line = connection.receive_event())
    found.push_back(line);
  return found;
}

bool has_line(const std::vector<json>& lines, const std::string& stream, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(), [&](const json& line) {
    return line["stream"] == stream && line.value("text", "") == text;
  });
}

pid_t pid_of(const DaemonFixture& daemon, const std::string& name) {
  const std::string run = status(daemon, name)["run"];
  return daemon.get("/v1/runs/" + run).json()["confinement"]["pid"].get<pid_t>();
}

// A jsonl agent in shell: `body` comes after the handshake.
std::string jsonl_agent(const std::string& name, const std::string& body,
                        const std::string& more = "") {
  return "protocol = \"jsonl\"\n" +
         shell_agent(name, "read init; echo \"$init\"; echo '{\"type\":\"ready\"}'\n" + body, more);
}

}  // namespace

TEST_CASE("a crash loop backs off and gives up, with the reason and its last words") {
  const DaemonFixture daemon(
      {.agents = {{"a.toml", shell_agent("crash", "echo broken >&2; exit 7", quick)}}});
  start(daemon, "crash");
  REQUIRE(reaches(daemon, "crash", "failed"));
  const json failed = status(daemon, "crash");
  CHECK(failed["reason"] == "gave up after 3 restarts in a row; the last end: exited with 7");
  CHECK(failed["restarts"] == 3);
  CHECK(failed["last_end"]["exit_code"] == 7);
  CHECK(failed["last_end"]["stderr_tail"] == "broken\n");
  std::size_t runs = 0;
  const json all = daemon.get("/v1/runs").json()["runs"];
  for (const json& run : all)
    if (run["agent"] == "crash") ++runs;
  CHECK(runs == 4);
  std::this_thread::sleep_for(300ms);
  CHECK(status(daemon, "crash")["state"] == "failed");
}

TEST_CASE("exit 3 and confinement that cannot be had are never tried again") {
  const std::string always = "[restart]\npolicy = \"always\"\nbackoff_seconds = 0.01\n";
  const DaemonFixture daemon(
      {.profiles = {{"p.toml",
                     "name = \"NOT_HERE\"\n[landlock]\nuse = \"required\"\nabi = 6\n"
                     "[cgroup]\nuse = \"required\"\nmemory_max = \"1GiB\"\n"}},
       .agents = {{"a.toml", shell_agent("three", "exit 3", always)},
                  {"b.toml", shell_agent("refused", "true", always, "NOT_HERE")}}});
  CHECK(start(daemon, "three").at("restarts") == 0);
  REQUIRE(reaches(daemon, "three", "failed"));
  CHECK(status(daemon, "three")["reason"].get<std::string>().find("exited with 3") == 0);
  // Where the host has what the profile asks for, it runs, and `true` is restarted for ever.
  start(daemon, "refused");
  const std::string state = status(daemon, "refused")["state"];
  if (daemon.get("/v1/host").json()["cgroup_base"] == "") CHECK(state == "failed");
  stop(daemon, "refused");
}

TEST_CASE("stop is TERM, and KILL after stop_seconds") {
  const std::string marker = unique_marker();
  const DaemonFixture daemon(
      {.agents = {{"a.toml", shell_agent("polite",
                                         "trap 'echo bye; exit 0' TERM; echo up; while :; do "
                                         "sleep 0.05; done",
                                         quick)},
                  {"b.toml", shell_agent("deaf", "trap '' TERM; echo up; " + marked_sleeper(marker),
                                         quick)}}});
  start(daemon, "polite");
  start(daemon, "deaf");
  REQUIRE(eventually([&] { return has_line(log_lines(daemon, "polite"), "stdout", "up"); }));
  REQUIRE(eventually([&] { return has_line(log_lines(daemon, "deaf"), "stdout", "up"); }));
  stop(daemon, "polite");
  CHECK(has_line(log_lines(daemon, "polite"), "stdout", "bye"));
  const auto begin = std::chrono::steady_clock::now();
  stop(daemon, "deaf");
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(took > 900ms);
  CHECK(took < 8s);
  CHECK(status(daemon, "deaf")["last_end"]["cause"] == "killed_by_request");
  CHECK(processes_with(marker).empty());
  CHECK(daemon.post("/v1/agents/deaf/stop").status == 200);
}

TEST_CASE("a jsonl agent is told, answers, and what it says is kept") {
  const DaemonFixture daemon({.agents = {{"a.toml", jsonl_agent("talker", R"(
echo '{"type":"log","level":"warning","text":"hot"}'
echo '{"type":"iteration_start","n":4}'
printf 'gar\377bage\n'
echo 'not json {'
echo '{"type":"charge","dim":"cpu_s","amount":1}'
read stop; echo "told: $stop"
echo '{"type":"exit","exit_kind":"cancelled","summary":"as asked"}'
)",
                                                                quick)}}});
  const json running = start(daemon, "talker");
  CHECK(running["state"] == "running");
  REQUIRE(eventually([&] { return status(daemon, "talker")["iteration"] == 4; }));
  stop(daemon, "talker");
  const json end = status(daemon, "talker")["last_end"];
  CHECK(end["cause"] == "exited");
  CHECK(end["exit_kind"] == "cancelled");
  CHECK(end["summary"] == "as asked");
  const auto lines = log_lines(daemon, "talker");
  const json init = json::parse(lines.front()["text"].get<std::string>());
  CHECK(init["type"] == "init");
  CHECK(init["agent"] == "talker");
  CHECK(init["run"] == running["run"]);
  CHECK(has_line(lines, "log", "hot"));
  CHECK(has_line(lines, "stdout", "not json {"));
  CHECK(has_line(lines, "stdout", "told: {\"type\":\"stop\",\"deadline_ms\":5000}"));
  CHECK(has_line(lines, "paddock", "a charge is refused: 'cpu_s' is measured by the supervisor"));
  CHECK(std::any_of(lines.begin(), lines.end(),
                    [](const json& line) { return line.value("base64", "") == "Z2Fy/2JhZ2U="; }));
}

TEST_CASE("without ready within five seconds the handshake has failed, for good") {
  const DaemonFixture daemon(
      {.agents = {{"a.toml", "protocol = \"jsonl\"\n" + shell_agent("mute", "exec sleep 300")}}});
  const auto begin = std::chrono::steady_clock::now();
  CHECK(start(daemon, "mute")["state"] == "failed");
  CHECK(std::chrono::steady_clock::now() - begin > 4900ms);
  CHECK(status(daemon, "mute")["reason"] == "no 'ready' within 5 s of 'init'");
}

TEST_CASE("an end without an exit message is a crash, also with exit code 0") {
  const DaemonFixture daemon({.agents = {{"a.toml", jsonl_agent("silent", "exit 0", quick)}}});
  start(daemon, "silent");
  REQUIRE(reaches(daemon, "silent", "failed"));
  CHECK(status(daemon, "silent")["last_end"]["exit_kind"] == "crashed");
}

TEST_CASE("the workspace survives a restart, and nothing else does") {
  for (const std::string profile : {"DEFAULT", "STRICT"}) {
    INFO(profile);
    if (profile == "STRICT" && !sandbox_works()) return;
    const std::string marker = unique_marker();
    const std::string script = "echo one >> note; echo notes $(wc -l < note); echo mine > /tmp/" +
                               marker + "-$$; echo files $(ls /tmp | grep -c " + marker +
                               "); echo descriptors $(ls /proc/self/fd | wc -l); setsid " +
                               marked_sleeper(marker) + " & echo up; while :; do sleep 0.1; done";
    const DaemonFixture daemon(
        {.agents = {{"a.toml", shell_agent("keeper", script, quick, profile)}}});
    start(daemon, "keeper");
    REQUIRE(eventually([&] { return has_line(log_lines(daemon, "keeper"), "stdout", "up"); }));
    const std::string first = status(daemon, "keeper")["run"];
    const auto sleepers = processes_with(marker);
    const HttpReply reply = daemon.post("/v1/agents/keeper/restart?wait_seconds=20");
    CHECK(reply.status == 202);
    const auto has_started_twice = [&] {
      const auto lines = log_lines(daemon, "keeper");
      return std::count_if(lines.begin(), lines.end(),
                           [](const json& line) { return line.value("text", "") == "up"; }) == 2;
    };
    REQUIRE(eventually(has_started_twice));
    CHECK(has_line(log_lines(daemon, "keeper"), "stdout", "notes 2"));
    CHECK(status(daemon, "keeper")["run"] != first);
    std::vector<std::string> descriptors;
    const auto lines = log_lines(daemon, "keeper");
    for (const json& line : lines)
      if (line.value("text", "").starts_with("descriptors ")) descriptors.push_back(line["text"]);
    REQUIRE(descriptors.size() == 2);
    CHECK(descriptors[0] == descriptors[1]);
    for (const pid_t sleeper : sleepers) {
      INFO(sleeper);
      const auto now = processes_with(marker);
      CHECK(std::find(now.begin(), now.end(), sleeper) == now.end());
    }
    if (profile == "STRICT") {  // DEFAULT has the host's /tmp
      CHECK(has_line(lines, "stdout", "files 1"));
      CHECK_FALSE(has_line(lines, "stdout", "files 2"));
    }
    stop(daemon, "keeper");
    CHECK(processes_with(marker).empty());
    CHECK(std::filesystem::exists(daemon.directory().path("state/agents/keeper/workspace/note")));
    for (const auto& entry : std::filesystem::directory_iterator("/tmp"))
      if (entry.path().filename().string().find(marker) == 0) std::filesystem::remove(entry.path());
  }
}

TEST_CASE("as root each agent's workspace is its own uid's, closed to a sibling's") {
  if (!is_root()) return;
  const DaemonFixture daemon(
      {.agents = {{"a.toml", shell_agent("one", "echo secret > note; exec sleep 300")},
                  {"b.toml", shell_agent("two",
                                         "cat \"$HOME/../../one/workspace/note\"; "
                                         "ls \"$HOME/../..\"; echo done; exec sleep 300")}}});
  start(daemon, "one");
  REQUIRE(eventually([&] {
    return std::filesystem::exists(daemon.directory().path("state/agents/one/workspace/note"));
  }));
  start(daemon, "two");
  REQUIRE(eventually([&] { return has_line(log_lines(daemon, "two"), "stdout", "done"); }));
  CHECK_FALSE(has_line(log_lines(daemon, "two"), "stdout", "secret"));
  CHECK_FALSE(has_line(log_lines(daemon, "two"), "stdout", "one"));
  struct stat first {};
  struct stat second {};
  REQUIRE(::stat(daemon.directory().path("state/agents/one/workspace").c_str(), &first) == 0);
  REQUIRE(::stat(daemon.directory().path("state/agents/two/workspace").c_str(), &second) == 0);
  CHECK(first.st_uid != second.st_uid);
  CHECK(first.st_uid != 0);
  CHECK((first.st_mode & 07777) == 0700);
}

TEST_CASE("the log rotates at its cap, and following goes on across it") {
  const DaemonFixture daemon(
      {.agents = {{"a.toml", shell_agent("loud", R"(
i=0
while :; do
  i=$((i+1)); echo "line $i 0123456789012345678901234567890123456789012345678901234567890123456789"
  [ $((i % 100)) = 0 ] && sleep 0.02
done)",
                                         "[log]\nbytes = \"128KiB\"\nfiles = 2\n")}}});
  start(daemon, "loud");
  HttpConnection follower(daemon.socket());
  follower.send_request("GET", "/v1/agents/loud/logs?lines=1&follow=true");
  REQUIRE(follower.receive_head().status == 200);
  const std::string path = daemon.directory().path("state/agents/loud/log");
  REQUIRE(eventually([&] { return std::filesystem::exists(path + ".1"); }, 20s));
  struct stat before {};
  REQUIRE(::stat((path + ".1").c_str(), &before) == 0);
  const auto number_in = [](const json& line) {
    return std::stoi(line["text"].get<std::string>().substr(5));
  };
  int last = number_in(follower.receive_event());
  bool rotated = false;
  for (int i = 0; i < 20'000 && !rotated; ++i) {
    const int next = number_in(follower.receive_event());
    REQUIRE(next == last + 1);
    last = next;
    struct stat now {};
    rotated =
        i % 100 == 0 && ::stat((path + ".1").c_str(), &now) == 0 && now.st_ino != before.st_ino;
  }
  CHECK(rotated);
  CHECK(std::filesystem::file_size(path + ".1") <= 128 * 1024);
  CHECK_FALSE(std::filesystem::exists(path + ".2"));
  follower.vanish();
  stop(daemon, "loud");
}

TEST_CASE("an agent that is killed from outside is started again") {
  const DaemonFixture daemon(
      {.agents = {{"a.toml", shell_agent("victim", "exec sleep 300", quick)}}});
  start(daemon, "victim");
  const std::string first = status(daemon, "victim")["run"];
  REQUIRE(::kill(pid_of(daemon, "victim"), SIGKILL) == 0);
  REQUIRE(eventually([&] {
    const json now = status(daemon, "victim");
    return now["state"] == "running" && now["run"] != first;
  }));
  CHECK(status(daemon, "victim")["restarts"] == 1);
  CHECK(status(daemon, "victim")["last_end"]["cause"] == "signaled");
  stop(daemon, "victim");
}

TEST_CASE("fifty agents at once start, are told apart, and end with the daemon") {
  std::map<std::string, std::string> agents;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "agent" + std::to_string(i);
    agents[name + ".toml"] = shell_agent(name, "echo I am " + name + "; exec sleep 300", quick);
  }
  const DaemonFixture daemon({.agents = agents});
  for (int i = 0; i < 50; ++i)
    CHECK(daemon.post("/v1/agents/agent" + std::to_string(i) + "/start").status == 202);
  for (int i = 0; i < 50; ++i) {
    const std::string name = "agent" + std::to_string(i);
    INFO(name);
    REQUIRE(reaches(daemon, name, "running"));
    CHECK(eventually([&] { return has_line(log_lines(daemon, name), "stdout", "I am " + name); }));
    CHECK(log_lines(daemon, name).size() == 1);
  }
  CHECK(daemon.health("runs_alive") == 50);
}

TEST_CASE("the shipped example runs under STRICT, counts on after a restart, and stops when told") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  CHECK(start(daemon, "heartbeat")["state"] == "running");
  REQUIRE(eventually([&] { return status(daemon, "heartbeat")["iteration"] == 1; }));
  stop(daemon, "heartbeat");
  const json end = status(daemon, "heartbeat")["last_end"];
  CHECK(end["exit_kind"] == "cancelled");
  CHECK(end["exit_code"] == 0);
  start(daemon, "heartbeat");
  REQUIRE(eventually([&] { return status(daemon, "heartbeat")["iteration"] == 2; }));
  stop(daemon, "heartbeat");
}

// Goal: what was wanted is started by the next daemon, however the last one ended, and nothing
// else.
TEST_CASE("the next daemon starts what was wanted, after a drain and after a SIGKILL") {
  DaemonFixture daemon(
      {.agents = {
           {"a.toml", shell_agent("wanted", "echo up; exec sleep 300", quick)},
           {"b.toml", shell_agent("unwanted", "exec sleep 300", quick)},
           {"c.toml", "autostart = true\n" + shell_agent("auto", "exec sleep 300", quick)}}});
  REQUIRE(reaches(daemon, "auto", "running"));
  start(daemon, "wanted");
  start(daemon, "unwanted");
  stop(daemon, "unwanted");
  stop(daemon, "auto");
  for (const int signal : {SIGTERM, SIGKILL}) {
    INFO(signal);
    const std::string before = status(daemon, "wanted")["run"];
    const auto begin = std::chrono::steady_clock::now();
    daemon.signal(signal);
    daemon.wait_for_end();
    CHECK(std::chrono::steady_clock::now() - begin < 15s);  // agents are not waited for
    daemon.start_again();
    REQUIRE(reaches(daemon, "wanted", "running"));
    CHECK(status(daemon, "wanted")["run"] != before);
    CHECK(status(daemon, "wanted")["restarts"] == 0);
    CHECK(status(daemon, "unwanted")["state"] == "stopped");
    CHECK(status(daemon, "auto")["state"] == "stopped");
  }
  stop(daemon, "wanted");
}

TEST_CASE("an agent that a reload adds is started by it, and only if it starts with the daemon") {
  const DaemonFixture daemon;
  const std::string text = shell_agent("auto", "echo up; exec sleep 300", quick);
  daemon.directory().write("agents/auto.toml", "autostart = true\n" + text);
  daemon.directory().write("agents/idle.toml", shell_agent("idle", "exec sleep 300", quick));
  REQUIRE(daemon.post("/v1/reload").status == 200);
  REQUIRE(reaches(daemon, "auto", "running"));
  CHECK(status(daemon, "idle")["state"] == "stopped");
  stop(daemon, "auto");
  REQUIRE(daemon.post("/v1/reload").status == 200);
  CHECK(status(daemon, "auto")["wanted"] == false);
}

TEST_CASE("what is asked of agents wrongly is refused by name") {
  const DaemonFixture daemon({.agents = {{"a.toml", shell_agent("known", "exec sleep 300")}}});
  for (const char* verb : {"start", "stop", "restart"}) {
    const std::string target = std::string("/v1/agents/nobody/") + verb;
    CHECK(daemon.post(target).error_code() == "unknown_agent");
    CHECK(daemon.get(target).status == 405);
    CHECK(daemon.post(std::string("/v1/agents/known/") + verb + "?wait_seconds=-1").status == 400);
  }
  CHECK(daemon.get("/v1/agents/nobody/logs").error_code() == "unknown_agent");
  CHECK(daemon.get("/v1/agents/known/logs?lines=10001").status == 400);
  CHECK(daemon.get("/v1/agents/known/logs?follow=yes").status == 400);
  CHECK(log_lines(daemon, "known").empty());
  CHECK(status(daemon, "known")["state"] == "stopped");
}
