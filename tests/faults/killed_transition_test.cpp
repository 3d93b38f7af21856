// Goal: whatever kind of transition the daemon is killed at, its successor has a ledger that is
// whole, each run has one outcome, and what was said of agents and budgets holds. Method: a life of
// an agent and its budget, with runs beside it, in which every kind comes; the daemon dies before
// or after the first call that writes a transition of the kind.

#include <algorithm>
#include <csignal>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "faults/told.hpp"
#include "supervisor/ledger/ledger_reader.hpp"

using namespace paddock;
using namespace paddock::faults;
using nlohmann::json;
using namespace std::chrono_literals;

namespace {

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> all = {
      "run.queued",      "run.starting",   "run.running",      "run.finished",   "agent.started",
      "agent.ready",     "agent.exited",   "agent.restarting", "agent.failed",   "agent.frozen",
      "agent.thawed",    "agent.stopping", "agent.stopped",    "budget.charged", "budget.warned",
      "budget.breached", "budget.granted", "budget.limited"};
  return all;
}

std::string script_agent(const std::string& name, const std::string& script,
                         const std::string& more) {
  return "name = \"" + name + "\"\nprofile = \"OFF\"\ncommand = [\"/bin/sh\", \"-c\", '''" +
         script + "''']\n" + more;
}

// Charges what is no threshold, then what warns, then what breaches.
std::string spender(const std::string& name, int reviews) {
  return "protocol = \"jsonl\"\n" +
         script_agent(name,
                      R"(read init; echo '{"type":"ready"}'
echo '{"type":"charge","dim":"reviews","amount":1}'; sleep 1.3
echo '{"type":"charge","dim":"tokens","amount":9}'; sleep 0.3
echo '{"type":"charge","dim":"tokens","amount":5}'; while :; do sleep 1; done)",
                      "[restart]\nstop_seconds = 1\n[budget]\ntokens = 10\nreviews = " +
                          std::to_string(reviews) + "\n");
}

std::string crasher(const std::string& name) {
  return script_agent(name, "exit 7",
                      "[restart]\nbackoff_seconds = 0.05\nmax_restarts = 1\nstop_seconds = 1\n");
}

// What the daemon said of an agent and its budget. Absent: it did not say.
struct Said {
  std::optional<std::string> wanted;
  std::optional<int> granted;
};

// Throws when the daemon is gone.
class Life {
 public:
  Life(FaultyDaemon& faulty, Told& told, std::string number)
      : faulty_(faulty),
        told_(told),
        spender_("spender-" + number),
        crasher_("crasher-" + number) {}

  const Said& said() const { return said_; }
  const std::string& agent() const { return spender_; }

  void live() {
    crash();
    fill_slots();
    spend();
    change_limits();
    said_.wanted.reset();  // as long as it is not answered
    call(spender_, "stop");
    said_.wanted = "stopped";
    wait_for(spender_, "stopped");
    // What became of it is recorded a moment later.
    for (int tries = 0; tries < 150 && faulty_->get("/health").status == 200; ++tries)
      std::this_thread::sleep_for(20ms);
  }

  // In the successor, so that they are in nobody's way.
  void end() {
    for (const std::string& name : {spender_, crasher_}) call(name, "stop?wait_seconds=20");
  }

 private:
  HttpReply call(const std::string& name, const std::string& what) {
    const HttpReply reply = faulty_->post("/v1/agents/" + name + "/" + what);
    INFO(reply.body);
    CHECK(reply.status / 100 == 2);
    return reply;
  }

  void wait_for(const std::string& name, const std::string& state) {
    for (int tries = 0; tries < 400; ++tries) {
      if (faulty_->get("/v1/agents/" + name).json()["status"]["state"] == state) return;
      std::this_thread::sleep_for(20ms);
    }
    FAIL(name << " does not become " << state);
  }

  void crash() {
    call(crasher_, "start");
    wait_for(crasher_, "failed");
  }

  // More than there are slots for.
  void fill_slots() {
    for (int run = 0; run < 6; ++run) {
      json request = shell("sleep 1");
      request["detach"] = true;
      const HttpReply reply = faulty_->post("/v1/runs", request);
      CHECK(reply.status / 100 == 2);
      told_.run(reply.json()["id"]);
    }
  }

  void spend() {
    call(spender_, "start");
    said_.wanted = "running";
    wait_for(spender_, "frozen");
    const HttpReply reply = faulty_->post("/v1/agents/" + spender_ + "/budget/grant",
                                          {{"dim", "tokens"}, {"amount", 100}});
    CHECK(reply.status == 200);
    said_.granted = 100;
    wait_for(spender_, "running");
  }

  void change_limits() {
    faulty_->directory().write("agents/" + spender_ + ".toml", spender(spender_, 77));
    faulty_->signal(SIGHUP);
    for (int tries = 0; tries < 400; ++tries) {
      const json budget = faulty_->get("/v1/agents/" + spender_ + "/budget").json();
      if (budget["dimensions"]["reviews"]["limit"] == 77) return;
      std::this_thread::sleep_for(20ms);
    }
    FAIL("the new limit does not come");
  }

  FaultyDaemon& faulty_;
  Told& told_;
  std::string spender_;
  std::string crasher_;
  Said said_;
};

void check_said(const DaemonFixture& daemon, const std::string& agent, const Said& said) {
  auto reader = supervisor::LedgerReader::open(daemon.directory().path("state/ledger.db"));
  REQUIRE(reader);
  const auto agents = reader->agents();
  REQUIRE(agents);
  std::string wanted;
  for (const auto& row : *agents)
    if (row.name == agent) wanted = row.wanted;
  if (said.wanted) CHECK(wanted == *said.wanted);
  const auto budgets = reader->budgets();
  REQUIRE(budgets);
  std::int64_t granted = 0;
  for (const auto& row : *budgets)
    if (row.agent == agent && row.dimension == "tokens") granted = row.granted;
  if (said.granted) CHECK(granted == *said.granted);
  CHECK((granted == 0 || granted == 100));  // never twice
}

}  // namespace

TEST_CASE("a daemon that is killed at any kind of transition keeps what it said of each") {
  constexpr int ways = 4;
  const int all_kinds = static_cast<int>(kinds().size());
  const int deaths = std::min(repetitions("FAULT_KILLS", all_kinds), ways * all_kinds);
  std::map<std::string, std::string> agents;
  for (int death = 0; death < deaths; ++death) {
    const std::string number = std::to_string(death);
    agents["spender-" + number + ".toml"] = spender("spender-" + number, 50);
    agents["crasher-" + number + ".toml"] = crasher("crasher-" + number);
  }
  FaultyDaemon faulty({.config = "[limits]\nruns_alive = 4\n", .agents = agents});
  for (int death = 0; death < deaths; ++death) {
    const auto index = static_cast<std::size_t>(death);
    const std::string& kind = kinds()[index % kinds().size()];
    // Each kind in each of the ways, in time.
    const std::size_t way = index + index / kinds().size();
    const Call call = way % 2 == 0 ? Call::pwrite : Call::fsync;
    const Effect effect = way / 2 % 2 == 0 ? Effect::die_after : Effect::die_before;
    INFO("at " << name_of(call) << (effect == Effect::die_after ? ", after, " : ", before, ")
               << "of " << kind);
    Told told;
    Life life(faulty, told, std::to_string(death));
    faulty.board().die(effect, call, 0, kind);
    try {
      life.live();
      FAIL_CHECK("no transition of the kind was written");
      faulty->signal(SIGKILL);
    } catch (const std::runtime_error&) {  // it has died
    }
    CHECK(faulty->wait_for_end().signal == SIGKILL);
    const std::string writing = faulty.board()->writing.data();
    std::cout << "killed at " << name_of(call) << " of " << writing << "\n";
    CHECK_THAT(writing, Catch::Contains(kind));
    faulty.board().clear();
    faulty->start_again();
    for (const auto& [id, cause] : told.all()) faulty.know(id);
    CHECK(faulty.footprint().leaves == 0);
    check_ledger(faulty.daemon(), told);
    check_said(faulty.daemon(), life.agent(), life.said());
    life.end();
    CHECK(faulty.run(quick())["result"]["cause"] == "exited");
  }
}
