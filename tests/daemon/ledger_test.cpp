// Runs that outlive their daemon as records, and not as processes.

#include <csignal>
#include <filesystem>
#include <thread>

#include "kernel/base/process_tree.hpp"
#include "supervisor/ledger/ledger_reader.hpp"
#include "supervisor/ledger/ledger_writer.hpp"
#include "support/daemon_fixture.hpp"
#include "support/program.hpp"

using nlohmann::json;
using paddock::supervisor::LedgerReader;
using paddock::supervisor::StoredRun;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

std::vector<std::string> profiles() {
  std::vector<std::string> profiles = {"OFF", "DEFAULT"};
  if (sandbox_works()) profiles.emplace_back("STRICT");
  return profiles;
}

std::string ledger_of(const DaemonFixture& daemon) {
  return daemon.directory().path("state/ledger.db");
}

StoredRun stored(const DaemonFixture& daemon, const std::string& id) {
  auto reader = LedgerReader::open(ledger_of(daemon));
  REQUIRE(reader);
  auto run = reader->run(id);
  REQUIRE(run);
  REQUIRE(*run);
  return **run;
}

std::vector<std::string> kinds_of(const StoredRun& run) {
  std::vector<std::string> kinds;
  for (const auto& event : run.events) kinds.push_back(event.event.kind);
  return kinds;
}

// The program does not wait for its run.running to be written, and may be seen before.
void wait_until_recorded(const DaemonFixture& daemon, const std::string& id) {
  daemon.wait_until_started(id);
  REQUIRE(eventually([&] { return stored(daemon, id).row.state == "running"; }));
}

void kill_daemon(DaemonFixture& daemon) {
  daemon.signal(SIGKILL);
  CHECK(daemon.wait_for_end().signal == SIGKILL);
}

Finished recover(const DaemonFixture& daemon, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"recover", "--state-dir", daemon.directory().path("state"),
                                    "--runtime-dir", daemon.directory().path("run")};
  words.insert(words.end(), more.begin(), more.end());
  return run_program("paddock", words);
}

}  // namespace

TEST_CASE("each step of a run is in the ledger, under every profile") {
  DaemonFixture daemon;
  for (const std::string& profile : profiles()) {
    INFO(profile);
    json request = shell("echo out; echo err >&2; exit 3", profile);
    request["tenant"] = "blue";
    request["parent"] = "r-0123456789abcdef";
    const json run = daemon.run(request);
    CHECK(run["parent"] == "r-0123456789abcdef");
    CHECK_FALSE(run.contains("recorded"));
    const StoredRun kept = stored(daemon, run["id"]);
    CHECK(kinds_of(kept) ==
          std::vector<std::string>{"run.starting", "run.running", "run.finished"});
    CHECK(kept.row.state == "finished");
    CHECK(kept.row.cause == "exited");
    CHECK(kept.row.exit_code == 3);
    CHECK(kept.row.tenant == "blue");
    CHECK(kept.row.parent == "r-0123456789abcdef");
    CHECK(kept.row.profile == profile);
    CHECK(kept.row.launcher.has_value());
    CHECK(kept.row.agent_process.has_value());
    CHECK(kept.policy_text.find("profile = ") != std::string::npos);
    const json body = json::parse(kept.events.back().event.body);
    CHECK(body["stdout_tail"] == "out\n");
    CHECK(body["stderr_tail"] == "err\n");
  }
}

TEST_CASE("a parent that is no id of a run is a mistake") {
  DaemonFixture daemon;
  for (const json& parent : {json("r-1"), json("R-0123456789ABCDEF"), json(7), json("")}) {
    json request = shell("true");
    request["parent"] = parent;
    const HttpReply reply = daemon.post("/v1/runs", request);
    CHECK(reply.status == 400);
    CHECK(reply.error_message().find("parent: must be") != std::string::npos);
  }
}

TEST_CASE("after a SIGKILL the next daemon gives every run its outcome, and leaves no process") {
  DaemonFixture daemon({.config = "[limits]\nruns_alive = 3\n"});
  const std::string marker = unique_marker();
  const std::string sleeper = marked_sleeper(marker);
  std::vector<std::string> alive;
  for (const std::string& profile : profiles())
    alive.push_back(daemon.start(shell(
        sleeper + " & (setsid " + sleeper + " &) ; trap '' TERM HUP INT; " + sleeper, profile)));
  for (const std::string& id : alive) daemon.wait_until_started(id);
  while (alive.size() < 3) alive.push_back(daemon.start(shell(sleeper)));
  const std::string queued = daemon.start(shell("echo never"));
  REQUIRE(eventually([&] { return processes_with(marker).size() >= 9; }));

  kill_daemon(daemon);
  daemon.start_again();
  CHECK(processes_with(marker).empty());
  for (const std::string& id : alive) {
    const HttpReply reply = daemon.get("/v1/runs/" + id);
    REQUIRE(reply.status == 200);
    const json run = reply.json();
    CHECK(run["state"] == "finished");
    CHECK(run["result"]["cause"] == "daemon_restart");
    CHECK(run["result"]["killed"] == true);
    CHECK(run["argv"][0] == "/bin/sh");
    CHECK(run["confinement"].contains("policy_hash"));
    CHECK(kinds_of(stored(daemon, id)).back() == "run.finished");
  }
  const json never = daemon.get("/v1/runs/" + queued).json();
  CHECK(never["result"]["cause"] == "daemon_restart");
  CHECK(never["result"]["detail"].get<std::string>().find("never started") != std::string::npos);
  CHECK(daemon.log().find("recovery: 4 runs") != std::string::npos);
  CHECK(daemon.run(shell("echo again"))["result"]["stdout"] == "again\n");
}

TEST_CASE("an outcome survives its daemon, with the end of the output, and is listed") {
  DaemonFixture daemon;
  const json run = daemon.run(shell("echo text; exit 4"));
  const std::string id = run["id"];
  kill_daemon(daemon);
  daemon.start_again();
  const json later = daemon.get("/v1/runs/" + id).json();
  CHECK(later["result"]["cause"] == "exited");
  CHECK(later["result"]["exit_code"] == 4);
  CHECK(later["result"]["stdout_tail"] == "text\n");
  CHECK(later["result"]["stdout_sha256"].get<std::string>().size() == 64);
  CHECK_FALSE(later["result"].contains("stdout"));
  CHECK(later["argv"] == run["argv"]);
  CHECK(later["created_at"] == run["created_at"]);
  CHECK(later["confinement"] == run["confinement"]);

  const std::string newer = daemon.run(shell("true"))["id"];
  const json list = daemon.get("/v1/runs").json()["runs"];
  REQUIRE(list.size() == 2);
  CHECK(list[0]["id"] == newer);
  CHECK(list[1]["id"] == id);
  CHECK(list[1]["argv"] == run["argv"]);
  CHECK_FALSE(list[1]["result"].contains("stdout_tail"));
  CHECK(daemon.get("/v1/runs?limit=1").json()["runs"].size() == 1);
  CHECK(daemon.get("/v1/runs?state=running").json()["runs"].empty());
  CHECK(daemon.get("/v1/runs/r-0000000000000000").status == 404);
  CHECK(daemon.get("/v1/runs/anything").status == 404);
}

TEST_CASE("a run that memory has forgotten is answered from the ledger") {
  DaemonFixture daemon({.config = "[limits]\nruns_finished = 1\n"});
  const std::string first = daemon.run(shell("echo first"))["id"];
  const std::string second = daemon.run(shell("echo second"))["id"];
  CHECK(daemon.get("/v1/runs/" + first).json()["result"]["stdout_tail"] == "first\n");
  CHECK(daemon.get("/v1/runs/" + second).json()["result"]["stdout"] == "second\n");
  CHECK(daemon.get("/v1/runs").json()["runs"].size() == 2);
}

TEST_CASE("`paddock recover` does it without a daemon, and a second time there is nothing to do") {
  DaemonFixture daemon;
  const std::string marker = unique_marker();
  std::vector<std::string> ids;
  for (const std::string& profile : profiles())
    ids.push_back(daemon.start(shell(marked_sleeper(marker), profile)));
  for (const std::string& id : ids) wait_until_recorded(daemon, id);
  kill_daemon(daemon);

  const Finished first = recover(daemon, {"--json"});
  INFO(first.standard_error);
  CHECK(first.exit_status == 0);
  CHECK(processes_with(marker).empty());
  const json report = json::parse(first.standard_output);
  REQUIRE(report["runs"].size() == ids.size());
  for (const json& run : report["runs"]) {
    CHECK(run["was"] == "running");
    CHECK(run["gone"] == true);
  }
  CHECK(report["sockets_removed"].size() == 2);
  CHECK(::access(daemon.socket().c_str(), F_OK) != 0);
  for (const std::string& id : ids) CHECK(stored(daemon, id).row.cause == "daemon_restart");

  const Finished second = recover(daemon);
  CHECK(second.exit_status == 0);
  CHECK(second.standard_output == "nothing to recover: every run has its outcome\n");
  for (const std::string& id : ids) CHECK(kinds_of(stored(daemon, id)).size() == 3);
}

TEST_CASE("`paddock recover` is refused while a daemon has the ledger, and says who") {
  DaemonFixture daemon;
  const std::string id = daemon.start(shell("sleep 300"));
  daemon.wait_until_started(id);
  const Finished refused = recover(daemon);
  CHECK(refused.exit_status == 1);
  CHECK(refused.standard_error.find(std::to_string(daemon.pid())) != std::string::npos);
  CHECK(daemon.get("/v1/runs/" + id).json()["state"] == "running");
  const DaemonAttempt second = try_daemon({"--runtime-dir", daemon.directory().path("other"),
                                           "--state-dir", daemon.directory().path("state")});
  CHECK(second.ended.exit_status == 1);
  CHECK(second.standard_error.find(std::to_string(daemon.pid())) != std::string::npos);
  CHECK(daemon.get("/v1/runs/" + id).json()["state"] == "running");
}

TEST_CASE("`paddock recover` without a ledger does nothing, and makes none") {
  const DaemonDirectory directory;
  const std::string state = directory.make_directory("state");
  const Finished nothing = run_program("paddock", {"recover", "--state-dir", state});
  CHECK(nothing.exit_status == 0);
  CHECK(nothing.standard_output.starts_with("nothing to recover"));
  CHECK(std::filesystem::is_empty(state));

  const Finished mistyped =
      run_program("paddock", {"recover", "--state-dir", directory.path("none")});
  CHECK(mistyped.exit_status == 1);
  CHECK(mistyped.standard_error.find("'" + directory.path("none") + "'") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(directory.path("none")));
}

// Goal: what a launcher would have ended is ended without it. Method: the launchers are killed with
// the daemon, so that their runs' orphans come to this process.
TEST_CASE("what is left of a run whose launcher was killed, too, is found by its mark") {
  DaemonFixture daemon;
  const std::string marker = unique_marker();
  const std::string id = daemon.start(shell(marked_sleeper(marker)));
  wait_until_recorded(daemon, id);
  const auto launcher = static_cast<pid_t>(stored(daemon, id).row.launcher->pid);
  // Stopped, it cannot notice that its supervisor is gone.
  REQUIRE(::kill(launcher, SIGSTOP) == 0);
  kill_daemon(daemon);
  CHECK_FALSE(processes_with(marker).empty());
  daemon.start_again();
  CHECK(processes_with(marker).empty());
  CHECK(stored(daemon, id).row.cause == "daemon_restart");
}

TEST_CASE("runs that are killed with the daemon's second and third signal have their outcomes") {
  DaemonFixture daemon;
  const std::string id = daemon.start(shell("trap '' TERM; while :; do sleep 0.1; done"));
  daemon.wait_until_started(id);
  for (int i = 0; i < 20; ++i) {
    daemon.signal(SIGTERM);
    std::this_thread::sleep_for(milliseconds(3));
  }
  CHECK(daemon.wait_for_end().exit_status == 0);
  CHECK(stored(daemon, id).row.state == "finished");
  CHECK(stored(daemon, id).row.cause == "shutdown");
}
