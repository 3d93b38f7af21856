// Warm runs (RFC 0013) with the real daemon: what a run says of itself, and what becomes of runs
// and items whose zygotes are killed, stopped, worn out or cannot start.

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include "kernel/base/process_tree.hpp"
#include "supervisor/warm/zygote_name.hpp"
#include "support/daemon_fixture.hpp"

using nlohmann::json;
using paddock::kernel::children_of;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

json python(const std::string& code, const std::string& profile = "STRICT") {
  return {{"profile", profile},
          {"argv", {"python3", "-I", "-c", code}},
          {"warm", true},
          {"allow_degraded", true}};
}

// The first ones are cold: their zygote starts.
json warm_run(const DaemonFixture& daemon, const std::string& code) {
  json run;
  eventually([&] {
    run = daemon.run(python(code));
    return run["warm"] == true;
  });
  INFO(run.dump());
  CHECK(run["warm"] == true);
  return run;
}

std::string tag_of(const DaemonFixture& daemon) {
  return paddock::supervisor::zygote_tag(daemon.directory().path("state") + "/ledger.db");
}

// The launchers of its zygotes: a guard and an init each.
std::vector<pid_t> launchers(const DaemonFixture& daemon) {
  return processes_with("z-" + tag_of(daemon));
}

bool is_python(pid_t pid) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/comm"), name);
  return name.starts_with("python3");
}

// Not below: there are its forks.
void add_interpreters(pid_t pid, std::set<pid_t>& found) {
  for (const pid_t child : children_of(pid)) {
    if (is_python(child)) {
      found.insert(child);
    } else {
      add_interpreters(child, found);
    }
  }
}

// What forks, of each zygote.
std::set<pid_t> interpreters(const DaemonFixture& daemon) {
  std::set<pid_t> found;
  for (const pid_t launcher : launchers(daemon)) add_interpreters(launcher, found);
  return found;
}

double metric(const DaemonFixture& daemon, const std::string& series) {
  const std::string text = daemon.get("/metrics").body;
  const std::size_t at = text.find("\n" + series + " ");
  return at == std::string::npos ? 0 : std::stod(text.substr(at + series.size() + 2));
}

json judged_item(const std::string& id, int more = 1) {
  return {
      {"id", id},
      {"code", "def f(x):\n    return x + " + std::to_string(more) + "\n"},
      {"tests",
       {{"kind", "call"}, {"entry_point", "f"}, {"cases", {{{"args", {1}}, {"expected", 2}}}}}}};
}

json items(std::size_t count) {
  json all = json::array();
  for (std::size_t i = 0; i < count; ++i) all.push_back(judged_item(std::to_string(i)));
  return all;
}

// Each with a judge, though all have the same tests.
json verify_judged(const DaemonFixture& daemon, const json& all,
                   const json& rest = json::object()) {
  json body = {{"items", all}, {"allow_degraded", true}, {"known_answers", false}};
  body.update(rest);
  return daemon.verify(body)["items"];
}

void check_all_pass(const json& answers, std::size_t count) {
  REQUIRE(answers.size() == count);
  for (const json& answer : answers) {
    INFO(answer.dump());
    CHECK(answer["verdict"] == "pass");
  }
}

// Answers of items of which none fell back; the first ones do.
json warm_verdicts(const DaemonFixture& daemon, std::size_t count) {
  json answers;
  eventually([&] {
    answers = verify_judged(daemon, items(count));
    return std::none_of(answers.begin(), answers.end(),
                        [](const json& answer) { return answer.contains("cold_because"); });
  });
  check_all_pass(answers, count);
  return answers;
}

const std::string warm_table =
    "name = \"python\"\naliases = [\"python3\", \"py\"]\nsource = \"main.py\"\n[run]\n"
    "command = [\"python3\", \"main.py\"]\n[warm]\ninterpreter = [\"python3\", \"-I\"]\n";

DaemonOptions with_warm(const std::string& keys) {
  return {.runtimes = {{"python.toml", warm_table + keys}}};
}

}  // namespace

TEST_CASE("a run that asks for it becomes a fork, and says so wherever it is looked at") {
  if (!sandbox_works()) return;
  DaemonFixture daemon;
  const json first = daemon.run(python("print(1)"));
  CHECK(first["warm"] == false);
  CHECK(first["cold_because"] == "no zygote is ready");
  CHECK(first["result"]["stdout"] == "1\n");
  const json run = warm_run(daemon, "import sys, math; print(sys.argv, math.floor(2.5))");
  CHECK(run["result"]["stdout"] == "['-c'] 2\n");
  CHECK_FALSE(run.contains("cold_because"));
  CHECK(run["confinement"]["policy_hash"] == first["confinement"]["policy_hash"]);
  const std::string id = run["id"];
  CHECK(daemon.get("/v1/runs/" + id).json()["warm"] == true);
  CHECK(daemon.get("/v1/runs/" + id + "/explain").json()["warm"] == true);
  CHECK_FALSE(daemon.run(shell("true")).contains("warm"));
  CHECK(metric(daemon, "paddock_warm_zygotes{runtime=\"python\",state=\"ready\"}") >= 1);
  CHECK(metric(daemon, "paddock_warm_starts_total{runtime=\"python\",start=\"warm\"}") >= 1);
  CHECK(metric(daemon, "paddock_warm_starts_total{runtime=\"python\",start=\"cold\"}") >= 1);
  CHECK(daemon.get("/readyz").json()["warm"]["ready"] >= 1);
  CHECK(daemon.health("warm")["ready"] >= 1);
  CHECK(daemon.health("runs_alive") == 0);
  daemon.signal(SIGTERM);
  daemon.wait_for_end();
  CHECK(launchers(daemon).empty());
  daemon.start_again();
  CHECK(daemon.get("/v1/runs/" + id).json()["warm"] == true);
  const json before = daemon.get("/v1/runs/" + first["id"].get<std::string>()).json();
  CHECK(before["warm"] == false);
  CHECK(before["cold_because"] == "no zygote is ready");
}

TEST_CASE("what cannot be a fork runs cold and says why") {
  if (!sandbox_works()) return;
  DaemonDirectory bound;
  const DaemonFixture daemon({.profiles = {{"open.toml",
                                            "name = \"OPEN\"\n[isolation]\nuse_bubblewrap = true\n"
                                            "[requests]\nbind_rw = [\"" +
                                                bound.make_directory("w", 0777) + "\"]\n"}}});
  const auto check = [&](const json& request, const std::string& why) {
    const json run = daemon.run(request);
    INFO(run.dump());
    CHECK(run["result"]["stdout"] == "1\n");
    CHECK(run["warm"] == false);
    CHECK(run["cold_because"].get<std::string>().find(why) != std::string::npos);
  };
  check(python("print(1)", "OFF"), "bubblewrap");
  json writable = python("print(1)", "OPEN");  // where there is no interpreter
  writable["bind_rw"] = {bound.path("w")};
  CHECK(daemon.run(writable)["cold_because"] == "something is bound writable");
  json other = python("");
  other["argv"] = {"/bin/echo", "1"};
  check(other, "not the interpreter of a runtime's [warm]");
  CHECK(launchers(daemon).empty());
}

TEST_CASE("candidates and judges are forks of zygotes of their own") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  const json answers = warm_verdicts(daemon, 8);
  for (const json& run : answers[0]["receipt"]["runs"])
    CHECK(daemon.get("/v1/runs/" + run.get<std::string>()).json()["warm"] == true);
  CHECK(metric(daemon, "paddock_warm_starts_total{runtime=\"python\",start=\"warm\"}") >= 8);
  CHECK(metric(daemon, "paddock_warm_starts_total{runtime=\"judge\",start=\"warm\"}") >= 8);
  const json wrong = verify_judged(daemon, json::array({judged_item("wrong", 2)}));
  CHECK(wrong[0]["verdict"] == "fail");
  CHECK(wrong[0]["cause"] == "wrong_answer");
}

TEST_CASE("items run cold where their request or the daemon's configuration says so") {
  if (!sandbox_works()) return;
  const DaemonFixture by_request;
  const json answers = verify_judged(by_request, items(2), {{"warm", false}});
  check_all_pass(answers, 2);
  for (const json& answer : answers) CHECK_FALSE(answer.contains("cold_because"));
  CHECK(launchers(by_request).empty());
  const DaemonFixture by_config({.config = "[verify]\nwarm = false\n"});
  check_all_pass(verify_judged(by_config, items(2)), 2);
  CHECK(launchers(by_config).empty());
}

TEST_CASE("every item has its verdict although zygotes are killed and stopped all the time") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  for (const auto& round :
       {std::pair(SIGKILL, true), std::pair(SIGKILL, false), std::pair(SIGSTOP, false)}) {
    const int signal = round.first;
    const bool known_answers = round.second;
    warm_verdicts(daemon, 4);  // there are zygotes to hit
    std::atomic<bool> is_over = false;
    std::size_t hit = 0;
    std::thread saboteur([&] {
      while (!is_over) {
        for (const pid_t pid : interpreters(daemon)) {
          if (::kill(pid, signal) == 0) ++hit;
          break;
        }
        std::this_thread::sleep_for(milliseconds(signal == SIGKILL ? 50 : 400));
      }
    });
    json answers;
    try {
      answers = verify_judged(daemon, items(40), {{"known_answers", known_answers}});
    } catch (...) {
      is_over = true;
      saboteur.join();
      throw;
    }
    is_over = true;
    saboteur.join();
    INFO("signal " << signal << ", known answers " << known_answers);
    CHECK(hit > 0);
    REQUIRE(answers.size() == 40);
    // One that was past its gate ends with its zygote, and cannot start again.
    std::size_t passed = 0;
    for (const json& answer : answers) {
      INFO(answer.dump());
      CHECK(answer["verdict"] != "fail");  // it was not the candidate's doing
      if (answer["verdict"] == "pass") ++passed;
    }
    CHECK(passed > 20);
  }
  warm_verdicts(daemon, 4);
}

TEST_CASE("whatever of a zygote is killed under a program, its item has no number") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  json slow = judged_item("slow");
  slow["code"] = "import time\ndef f(x):\n    time.sleep(0.5)\n    return x + 1\n";
  std::size_t killed = 0;
  for (int i = 0; i < 12; ++i) {
    const bool the_guards = i % 2 == 0;  // otherwise the inits
    warm_verdicts(daemon, 2);
    std::thread saboteur([&] {
      std::this_thread::sleep_for(milliseconds(250));
      const auto all = launchers(daemon);
      for (const pid_t pid : all) {
        // A guard is no launcher's child.
        const bool is_guard = std::none_of(all.begin(), all.end(), [pid](pid_t other) {
          const auto children = children_of(other);
          return std::find(children.begin(), children.end(), pid) != children.end();
        });
        if (is_guard == the_guards && ::kill(pid, SIGKILL) == 0) ++killed;
      }
    });
    const json answer = verify_judged(daemon, json::array({slow}))[0];
    saboteur.join();
    INFO((the_guards ? "guards: " : "inits: ") << answer.dump());
    CHECK(answer["verdict"] != "fail");
  }
  CHECK(killed > 12);
}

TEST_CASE("a run that cannot be set up under its own limits keeps no other from being warm") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  warm_run(daemon, "pass");
  json hopeless = python("pass");
  hopeless["limits"] = {{"nofile", 3}};
  for (int i = 0; i < 2; ++i) {
    daemon.run(hopeless);
    CHECK(daemon.run(python("pass"))["warm"] == true);
  }
}

TEST_CASE("idle zygotes that are killed or stopped cost no verdict") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  for (const int signal : {SIGKILL, SIGSTOP}) {
    INFO("signal " << signal);
    warm_verdicts(daemon, 4);
    const auto victims = interpreters(daemon);
    REQUIRE_FALSE(victims.empty());
    for (const pid_t pid : victims) ::kill(pid, signal);
    check_all_pass(verify_judged(daemon, items(20)), 20);
  }
  warm_verdicts(daemon, 4);
}

TEST_CASE("zygotes that cannot start cost no run and no verdict, and the cause is told") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon(with_warm("modules = [\"no_such_module\"]\n"));
  for (int i = 0; i < 3; ++i) {
    const json run = daemon.run(python("print(1)"));
    CHECK(run["result"]["stdout"] == "1\n");
    CHECK(run["warm"] == false);
  }
  check_all_pass(verify_judged(daemon, items(4)), 4);
  REQUIRE(eventually([&] {
    const json warm = daemon.get("/readyz").json()["warm"];
    return warm.contains("last_failure") &&
           warm["last_failure"].get<std::string>().find("no_such_module") != std::string::npos;
  }));
  CHECK(daemon.get("/readyz").status == 200);
  CHECK(daemon.log().find("warm python: a zygote died") != std::string::npos);
}

TEST_CASE("an interpreter that does not exist costs no verdict") {
  if (!sandbox_works()) return;
  const std::string text =
      "name = \"python\"\nsource = \"main.py\"\n[run]\ncommand = "
      "[\"python3\", \"main.py\"]\n[warm]\ninterpreter = [\"no-such-python\"]\n";
  const DaemonFixture daemon({.runtimes = {{"python.toml", text}}});
  check_all_pass(verify_judged(daemon, items(4)), 4);
  json request = python("print(1)");
  request["argv"] = {"no-such-python", "-c", "print(1)"};
  for (int i = 0; i < 3; ++i) {
    const json run = daemon.run(request);
    CHECK(run["warm"] == false);
    CHECK(run["result"]["cause"] == "cannot_execute");
  }
  REQUIRE(
      eventually([&] { return daemon.get("/readyz").json()["warm"].contains("last_failure"); }));
}

TEST_CASE("a zygote that has had its runs is replaced") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon(with_warm("runs = 3\n"));
  for (int i = 0; i < 8; ++i) warm_run(daemon, "print(1)");
  CHECK(metric(daemon, "paddock_warm_zygote_ends_total{runtime=\"python\",reason=\"runs\"}") +
            metric(daemon, "paddock_warm_zygote_ends_total{reason=\"runs\",runtime=\"python\"}") >=
        2);
}

TEST_CASE("an idle zygote is ended") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon(with_warm("idle = \"300ms\"\n"));
  warm_run(daemon, "print(1)");
  CHECK(eventually([&] { return launchers(daemon).empty(); }, seconds(5)));
  CHECK(daemon.get("/readyz").status == 200);
  warm_run(daemon, "print(1)");
}

TEST_CASE("a reload and a drain end the zygotes that there are, and others come after them") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  warm_run(daemon, "print(1)");
  const auto before = launchers(daemon);
  REQUIRE_FALSE(before.empty());
  REQUIRE(daemon.post("/v1/reload").status == 200);
  CHECK(eventually([&] { return launchers(daemon).empty(); }, seconds(5)));
  warm_run(daemon, "print(1)");
  REQUIRE(daemon.post("/v1/drain", {{"deadline_seconds", 5}}).status == 200);
  CHECK(eventually([&] { return launchers(daemon).empty(); }, seconds(5)));
  REQUIRE(daemon.remove("/v1/drain").status == 200);
  warm_run(daemon, "print(1)");
}

TEST_CASE("a killed daemon leaves no zygote, not even a stopped one after its successor's start") {
  if (!sandbox_works()) return;
  DaemonFixture daemon;
  warm_run(daemon, "print(1)");
  daemon.signal(SIGKILL);
  daemon.wait_for_end();
  CHECK(eventually([&] { return launchers(daemon).empty(); }, seconds(5)));
  daemon.start_again();
  warm_run(daemon, "print(1)");
  const auto left = launchers(daemon);
  for (const pid_t pid : left) ::kill(pid, SIGSTOP);
  daemon.signal(SIGKILL);
  daemon.wait_for_end();
  daemon.start_again();
  CHECK(eventually([&] { return launchers(daemon).empty(); }, seconds(5)));
}

TEST_CASE("a warm run is stopped like any other, and its client's end stops it") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  warm_run(daemon, "print(1)");
  const std::string id = daemon.start(python("import time; time.sleep(600)"));
  daemon.wait_until_started(id);
  CHECK(daemon.remove("/v1/runs/" + id).status == 202);
  const json run = daemon.finished(id);
  CHECK(run["result"]["cause"] == "killed_by_request");
  CHECK(run["warm"] == true);
  warm_run(daemon, "print(1)");
}
