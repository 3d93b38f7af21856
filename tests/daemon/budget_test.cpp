// Budgets of the real daemon: what agents use is measured, charged, and freezes them.

#include <csignal>
#include <thread>

#include "kernel/base/process_tree.hpp"
#include "supervisor/ledger/ledger_reader.hpp"
#include "support/daemon_fixture.hpp"

using nlohmann::json;
using namespace paddock;
using namespace std::chrono_literals;

namespace {

std::string agent_text(const std::string& name, const std::string& script,
                       const std::string& budget, const std::string& protocol = "plain") {
  return "name = \"" + name + "\"\nprofile = \"OFF\"\nprotocol = \"" + protocol +
         "\"\ncommand = [\"/bin/sh\", \"-c\", '''" + script +
         "''']\n[restart]\nstop_seconds = 1\n" + "[budget]\n" + budget;
}

constexpr const char* burner = "while :; do :; done";

// Charges what its budget file says, line by line, and then waits.
std::string charger(const std::string& messages) {
  return "read init; echo '{\"type\":\"ready\"}'; " + messages + " while :; do sleep 1; done";
}
std::string charge(const std::string& rest) {
  return "echo '{\"type\":\"charge\"," + rest + "}'; ";
}

struct Budgets {
  explicit Budgets(const std::map<std::string, std::string>& agents) : daemon({.agents = agents}) {}

  json dimension(const std::string& agent, const std::string& name) const {
    const HttpReply reply = daemon.get("/v1/agents/" + agent + "/budget");
    INFO(reply.body);
    REQUIRE(reply.status == 200);
    return reply.json()["dimensions"].value(name, json(nullptr));
  }
  void start(const std::string& agent) const {
    const HttpReply reply = daemon.post("/v1/agents/" + agent + "/start?wait_seconds=20");
    INFO(reply.body);
    REQUIRE(reply.status == 202);
  }
  HttpReply stop(const std::string& agent) const {
    return daemon.post("/v1/agents/" + agent + "/stop?wait_seconds=20");
  }
  HttpReply grant(const std::string& agent, const std::string& dimension,
                  const json& amount) const {
    return daemon.post("/v1/agents/" + agent + "/budget/grant",
                       {{"dim", dimension}, {"amount", amount}});
  }
  void restart_daemon(int signal) {
    daemon.signal(signal);
    daemon.wait_for_end();
    daemon.start_again();
  }
  json status(const std::string& agent) const {
    return daemon.get("/v1/agents/" + agent).json()["status"];
  }
  bool reaches(const std::string& agent, const std::string& state) const {
    return eventually([&] { return status(agent)["state"] == state; }, 30s);
  }
  std::uint64_t cpu_us(const std::string& agent) const {
    const std::string run = status(agent)["run"];
    const json confinement = daemon.get("/v1/runs/" + run).json()["confinement"];
    const auto stat = kernel::stat_of(confinement["pid"].get<pid_t>());
    REQUIRE(stat);
    return stat->own_cpu_us;
  }
  // Of those that the ledger has by now.
  std::size_t events(const std::string& kind, const std::string& subject) const {
    auto reader = supervisor::LedgerReader::open(daemon.directory().path("state/ledger.db"));
    REQUIRE(reader);
    supervisor::EventFilter filter;
    filter.kind_prefix = kind;
    filter.subject = subject;
    const auto events = reader->events(filter);
    REQUIRE(events);
    return events->size();
  }

  DaemonFixture daemon;
};

}  // namespace

TEST_CASE("an agent that has burned its CPU seconds stands still until it is granted more") {
  const Budgets budgets({{"a.toml", agent_text("burner", burner, "cpu_s = 2\n")}});
  budgets.start("burner");
  REQUIRE(budgets.reaches("burner", "frozen"));
  const json spent = budgets.dimension("burner", "cpu_s");
  CHECK(spent["limit"] == 2);
  CHECK(spent["used"] >= 2);
  CHECK(spent["used"] <= 6);  // looked at once a second
  CHECK(spent["breached"] == true);
  CHECK(budgets.dimension("burner", "wall_s")["limit"].is_null());
  const std::uint64_t before = budgets.cpu_us("burner");
  std::this_thread::sleep_for(1500ms);
  CHECK(budgets.cpu_us("burner") == before);
  CHECK(budgets.dimension("burner", "cpu_s")["used"] == spent["used"]);
  CHECK(eventually([&] { return budgets.events("budget.breached", "burner") == 1; }));
  CHECK(budgets.events("budget.warned", "burner") == 1);

  const HttpReply granted = budgets.grant("burner", "cpu_s", 3);
  INFO(granted.body);
  CHECK(granted.status == 200);
  if (spent["used"] < 5) {
    REQUIRE(eventually([&] { return budgets.cpu_us("burner") > before; }));
    // And stands still again, with a breach of its own.
    CHECK(eventually([&] { return budgets.events("budget.breached", "burner") == 2; }, 30s));
    CHECK(budgets.reaches("burner", "frozen"));
  }
  // What is frozen can be stopped.
  const HttpReply stopped = budgets.stop("burner");
  INFO(stopped.body);
  CHECK(stopped.json()["status"]["state"] == "stopped");
}

TEST_CASE("an agent charges itself over jsonl, but not what the supervisor measures") {
  const Budgets budgets(
      {{"a.toml", agent_text("charger",
                             charger(charge(R"("dim":"tokens","amount":4)") +
                                     charge(R"("dim":"cpu_s","amount":4)") +
                                     charge(R"("dim":"tokens","amount":-4)") +
                                     charge(R"("charges":{"tokens":4,"wall_s":4})") +
                                     charge(R"("charges":{"tokens":4,"tool_calls":7})")),
                             "tokens = 10\ncpu_s = 100\n", "jsonl")}});
  budgets.start("charger");
  REQUIRE(eventually([&] { return budgets.dimension("charger", "tool_calls") != nullptr; }));
  CHECK(budgets.dimension("charger", "tokens")["used"] == 8);
  CHECK(budgets.dimension("charger", "tokens")["warned"] == true);
  CHECK(budgets.dimension("charger", "tool_calls")["used"] == 7);
  CHECK(budgets.dimension("charger", "cpu_s")["used"] < 4);
  CHECK(eventually([&] { return budgets.events("budget.warned", "charger") == 1; }));
  CHECK(budgets.events("budget.breached", "charger") == 0);
  CHECK(budgets.status("charger")["state"] == "running");
}

TEST_CASE(
    "a charge past the limit is recorded and freezes; a reload with a higher one lets it go on") {
  const std::string script = charger(charge(R"("dim":"tokens","amount":25)"));
  const Budgets budgets({{"a.toml", agent_text("charger", script, "tokens = 10\n", "jsonl")}});
  budgets.start("charger");
  REQUIRE(budgets.reaches("charger", "frozen"));
  CHECK(budgets.dimension("charger", "tokens")["used"] == 25);
  budgets.daemon.directory().write("agents/a.toml",
                                   agent_text("charger", script, "tokens = 30\n", "jsonl"));
  REQUIRE(budgets.daemon.post("/v1/reload").status == 200);
  CHECK(budgets.reaches("charger", "running"));
  CHECK(budgets.dimension("charger", "tokens")["limit"] == 30);
  CHECK(budgets.dimension("charger", "tokens")["used"] == 25);
  budgets.daemon.directory().write("agents/a.toml",
                                   agent_text("charger", script, "tokens = 5\n", "jsonl"));
  REQUIRE(budgets.daemon.post("/v1/reload").status == 200);
  CHECK(budgets.reaches("charger", "frozen"));
}

TEST_CASE("what is spent stays spent over the end of the daemon, and so does what was granted") {
  Budgets budgets(
      {{"a.toml",
        agent_text("charger",
                   "read init; echo '{\"type\":\"ready\"}'; [ -e spent ] || " +
                       charge(R"("dim":"tokens","amount":12)") + "echo > spent; sleep 300",
                   "tokens = 10\n", "jsonl")}});
  budgets.start("charger");
  REQUIRE(budgets.reaches("charger", "frozen"));
  for (const int signal : {SIGTERM, SIGKILL}) {
    INFO(signal);
    const std::string before = budgets.status("charger")["run"];
    budgets.restart_daemon(signal);
    REQUIRE(budgets.reaches("charger", "frozen"));
    CHECK(budgets.status("charger")["run"] != before);
    CHECK(budgets.dimension("charger", "tokens")["used"] == 12);
    CHECK(budgets.dimension("charger", "tokens")["breached"] == true);
    CHECK(budgets.events("budget.breached", "charger") == 1);
  }
  REQUIRE(budgets.grant("charger", "tokens", 5).status == 200);
  REQUIRE(budgets.reaches("charger", "running"));
  budgets.restart_daemon(SIGKILL);
  REQUIRE(budgets.reaches("charger", "running"));
  const json kept = budgets.dimension("charger", "tokens");
  CHECK(kept["limit"] == 15);
  CHECK(kept["granted"] == 5);
  CHECK(kept["used"] == 12);
  std::this_thread::sleep_for(1500ms);
  CHECK(budgets.status("charger")["state"] == "running");
}

TEST_CASE("the status of an agent has its budget, wherever it is told") {
  const Budgets budgets({{"a.toml", agent_text("idle", "sleep 300", "cpu_s = 2\n")}});
  const auto is_whole = [&](const json& status) {
    INFO(status.dump());
    json budget = budgets.daemon.get("/v1/agents/idle/budget").json();
    CHECK(budget["dimensions"]["cpu_s"]["limit"] == 2);
    CHECK(status["budget"]["dimensions"]["cpu_s"] == budget["dimensions"]["cpu_s"]);
    CHECK(status["budget"]["spent"] == false);
  };
  is_whole(budgets.status("idle"));
  const json all = budgets.daemon.get("/v1/agents").json()["agents"];
  for (const json& agent : all)
    if (agent["name"] == "idle") is_whole(agent["status"]);
  is_whole(budgets.daemon.post("/v1/agents/idle/start").json()["status"]);
  is_whole(budgets.stop("idle").json()["status"]);
}

TEST_CASE("a grant that makes no sense is refused, and changes nothing") {
  const Budgets budgets({{"a.toml", agent_text("idle", "sleep 300", "cpu_s = 2\n")}});
  const json before = budgets.daemon.get("/v1/agents/idle/budget").json();
  CHECK(before["spent"] == false);
  for (const json& amount :
       {json(0), json(-1), json(1.5), json("1"), json(std::uint64_t{1} << 60)}) {
    const HttpReply refused = budgets.grant("idle", "cpu_s", amount);
    INFO(refused.body);
    CHECK(refused.status == 400);
  }
  CHECK(budgets.grant("idle", "tokens", 5).status == 400);
  CHECK(budgets.grant("nobody", "cpu_s", 5).status == 404);
  CHECK(budgets.daemon.post("/v1/agents/idle/budget/grant", {{"dim", "cpu_s"}}).status == 400);
  CHECK(budgets.daemon.post("/v1/agents/idle/budget/grant", {{"dims", "cpu_s"}}).status == 400);
  CHECK(budgets.daemon.get("/v1/agents/nobody/budget").status == 404);
  CHECK(budgets.daemon.get("/v1/agents/idle/budget").json() == before);
}
