// The agents on a real loop with real runs under OFF, and a recorder of the test's.

#include "supervisor/agents/agent_table.hpp"

#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "kernel/policy/scratch_directory.hpp"
#include "supervisor/runs/table_fixture.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using namespace std::chrono_literals;
using kernel::ErrorCode;
using kernel::Result;

namespace {

// Adds up what is charged.
struct Sum final : Accountant {
  void run_begins(const kernel::AgentTemplate&, const RunId&) override {}
  Result<void> charge(const std::string& agent, const Charges& charges) override {
    for (const auto& [dimension, amount] : charges) charged[agent] += amount;
    return {};
  }
  void look(const std::string&, const RunId&) override {}
  void run_ended(const std::string&, const RunRecord&) override {}
  std::map<std::string, BudgetLine> lines(const std::string&) const override { return spent; }

  std::map<std::string, std::uint64_t> charged;
  std::map<std::string, BudgetLine> spent;
};

struct AgentsFixture : tests::TableFixture {
  AgentsFixture() {
    ScratchDirectory::set_mode(scratch.path(), 0711);
    scratch.directory("profiles");
    scratch.directory("templates");
    scratch.file("profiles/off.toml", "name = \"OFF\"\n[cgroup]\nuse = \"never\"\n");
  }

  // A plain agent under OFF that runs `script`.
  void write_agent(const std::string& name, const std::string& script,
                   const std::string& more = "") {
    scratch.file("templates/" + name + ".toml", "name = \"" + name + "\"\nprofile = \"OFF\"\n" +
                                                    "command = [\"/bin/sh\", \"-c\", '''" + script +
                                                    "''']\n" + more);
  }
  AgentTable& open() {
    const auto mistakes = catalog.reload();
    for (const auto& mistake : mistakes) INFO(to_string(mistake));
    REQUIRE(mistakes.empty());
    agents = std::make_unique<AgentTable>(AgentContext{.loop = loop->get(),
                                                       .sandbox = sandbox,
                                                       .runs = *table,
                                                       .recorder = recorder,
                                                       .catalog = catalog,
                                                       .health = health,
                                                       .disk_worker = *worker,
                                                       .state_directory = scratch.path(),
                                                       .random = [] { return 0.5; },
                                                       .accountant = &sum});
    return *agents;
  }
  ~AgentsFixture() {
    if (!agents) return;
    agents->drain();
    run_until([&] { return table->alive() + table->queued() == 0; });
    run_until([&] { return worker->pending() == 0; });
    table.reset();
  }

  static AgentTable::OnAnswer ignored() {
    return [](const Result<AgentAnswer>&) {};
  }
  AgentState state(const std::string& name) { return agents->status(name)->state; }
  void run_until_state(const std::string& name, AgentState wanted) {
    INFO(name_of(wanted));
    run_until([&] { return state(name) == wanted; });
  }
  std::string last_wanted(const std::string& name) const {
    std::string wanted;
    for (const Transition& transition : recorder.committed)
      if (transition.agent && transition.agent->name == name) wanted = transition.agent->wanted;
    return wanted;
  }
  std::size_t count(const std::string& kind) const {
    const auto kinds = recorder.kinds();
    return static_cast<std::size_t>(std::count(kinds.begin(), kinds.end(), kind));
  }

  ScratchDirectory scratch;
  Sum sum;
  CatalogStore catalog{{scratch.path() + "/profiles"}, {scratch.path() + "/templates"}};
  HealthStore health{sandbox};
  std::unique_ptr<Worker> worker = Worker::create(loop->get(), "test").value();
  std::unique_ptr<AgentTable> agents;
};

constexpr const char* quick =
    "[restart]\nbackoff_seconds = 0.01\nmax_restarts = 3\nstop_seconds = 1\n";

}  // namespace

TEST_CASE_METHOD(AgentsFixture, "an agent that is started is recorded as wanted before it runs") {
  write_agent("a", "sleep 300");
  open();
  recorder.hold();
  std::optional<bool> changed;
  agents->start("a", [&](const Result<AgentAnswer>& answer) { changed = answer.value().changed; });
  run_for(50ms);
  CHECK(state("a") == AgentState::stopped);
  CHECK_FALSE(changed);
  recorder.release();
  run_until_state("a", AgentState::running);
  CHECK(changed == true);
  CHECK(last_wanted("a") == "running");
  CHECK(recorder.kinds().front() == "agent.started");
  agents->start("a", [&](const Result<AgentAnswer>& answer) { changed = answer.value().changed; });
  CHECK(changed == false);

  agents->stop("a", ignored());
  run_until_state("a", AgentState::stopped);
  run_until([&] { return count("agent.stopped") == 1; });
  CHECK(last_wanted("a") == "stopped");
  CHECK(count("agent.exited") == 1);
  agents->stop("a", [&](const Result<AgentAnswer>& answer) { changed = answer.value().changed; });
  CHECK(changed == false);
}

TEST_CASE_METHOD(AgentsFixture,
                 "what the ledger cannot take is not started, and the caller hears why") {
  write_agent("a", "sleep 300");
  open();
  recorder.refused_kind = "agent.started";
  std::optional<ErrorCode> code;
  agents->start("a", [&](const Result<AgentAnswer>& answer) { code = answer.error().code; });
  run_until([&] { return code.has_value(); });
  CHECK(code == ErrorCode::not_recorded);
  CHECK(state("a") == AgentState::stopped);
  agents->start("b", [&](const Result<AgentAnswer>& answer) { code = answer.error().code; });
  CHECK(code == ErrorCode::unknown_agent);
}

TEST_CASE_METHOD(AgentsFixture, "a stop is answered when it is recorded, and takes effect before") {
  write_agent("a", "sleep 300", quick);
  open();
  agents->start("a", ignored());
  run_until_state("a", AgentState::running);
  recorder.hold();
  std::vector<AgentAnswer> answers;
  const auto keep = [&](const Result<AgentAnswer>& answer) { answers.push_back(answer.value()); };
  agents->stop("a", keep);
  agents->stop("a", keep);
  CHECK(state("a") == AgentState::stopping);
  const std::size_t waiting = recorder.waiting();
  run_until([&] { return recorder.waiting() > waiting; });  // its run has ended
  agents->stop("a", keep);
  CHECK(answers.empty());
  recorder.release();
  run_until([&] { return answers.size() == 3; });
  CHECK(answers.front() == AgentAnswer{.changed = true});
  CHECK(count("agent.stopping") == 1);
  CHECK(last_wanted("a") == "stopped");
}

TEST_CASE_METHOD(AgentsFixture, "a stop that cannot be recorded is answered all the same, later") {
  write_agent("a", "sleep 300", quick);
  open();
  agents->start("a", ignored());
  run_until_state("a", AgentState::running);
  recorder.hold();
  std::vector<AgentAnswer> answers;
  const auto keep = [&](const Result<AgentAnswer>& answer) { answers.push_back(answer.value()); };
  const auto begin = std::chrono::steady_clock::now();
  agents->stop("a", keep);
  run_until([&] { return answers.size() == 1; });
  CHECK(std::chrono::steady_clock::now() - begin > 4900ms);
  CHECK(answers.front() == AgentAnswer{.changed = true, .recorded = false});
  agents->stop("a", keep);  // there is nothing to do, and it is not recorded yet
  run_for(100ms);
  CHECK(answers.size() == 1);
  recorder.release();
  run_until([&] { return answers.size() == 2; });
  CHECK(answers.back().recorded);
  CHECK(count("agent.stopping") == 1);
}

TEST_CASE_METHOD(AgentsFixture, "a start that is refused leaves what was stopped by hand so") {
  scratch.file(
      "templates/a.toml",
      "name = \"a\"\nprofile = \"OFF\"\ncommand = [\"sleep\", \"300\"]\nautostart = true\n");
  open();
  agents->start_wanted({{"a", "stopped"}});
  recorder.refused_kind = "agent.started";
  std::optional<ErrorCode> code;
  agents->start("a", [&](const Result<AgentAnswer>& answer) { code = answer.error().code; });
  run_until([&] { return code.has_value(); });
  recorder.refused_kind.clear();
  std::filesystem::rename(scratch.path() + "/templates/a.toml", scratch.path() + "/a.toml");
  REQUIRE(catalog.reload().empty());
  agents->start_added();
  std::filesystem::rename(scratch.path() + "/a.toml", scratch.path() + "/templates/a.toml");
  REQUIRE(catalog.reload().empty());
  agents->start_added();
  run_for(50ms);
  CHECK(state("a") == AgentState::stopped);
  CHECK(count("agent.started") == 0);
}

TEST_CASE_METHOD(AgentsFixture, "a stop that overtakes a start wins") {
  write_agent("a", "sleep 300");
  open();
  recorder.hold();
  agents->start("a", ignored());
  agents->stop("a", ignored());
  recorder.release();
  run_until([&] { return last_wanted("a") == "stopped"; });
  run_for(50ms);
  CHECK(state("a") == AgentState::stopped);
  CHECK(count("run.starting") == 0);
}

TEST_CASE_METHOD(AgentsFixture, "a crash loop gives up, and each of its runs is on record") {
  write_agent("a", "echo no >&2; exit 1", quick);
  open();
  agents->start("a", ignored());
  run_until_state("a", AgentState::failed);
  run_until([&] { return count("agent.failed") == 1; });
  const AgentStatus status = *agents->status("a");
  CHECK(status.reason == "gave up after 3 restarts in a row; the last end: exited with 1");
  REQUIRE(status.last_end);
  CHECK(status.last_end->stderr_tail == "no\n");
  CHECK(status.wanted);
  CHECK(count("agent.exited") == 4);
  CHECK(count("agent.restarting") == 3);
  CHECK(count("run.finished") == 4);
}

TEST_CASE_METHOD(AgentsFixture, "exit 3 and a profile that is refused are not tried again") {
  write_agent("three", "exit 3", "[restart]\npolicy = \"always\"\n");
  open();
  agents->start("three", ignored());
  run_until_state("three", AgentState::failed);
  CHECK(count("run.finished") == 1);
}

TEST_CASE_METHOD(AgentsFixture,
                 "success is an end: it is no longer wanted, unless it starts with the daemon") {
  write_agent("once", "exit 0");
  write_agent("always_there", "exit 0", "");
  scratch.file(
      "templates/always_there.toml",
      "name = \"always_there\"\nprofile = \"OFF\"\ncommand = [\"true\"]\nautostart = true\n");
  open();
  agents->start("once", ignored());
  agents->start("always_there", ignored());
  run_until([&] { return count("agent.stopped") == 2; });
  CHECK(last_wanted("once") == "stopped");
  CHECK(last_wanted("always_there") == "running");
}

TEST_CASE_METHOD(AgentsFixture,
                 "the daemon's start starts what was wanted and what starts with it") {
  for (const char* name : {"wanted", "stopped_auto", "new_auto", "other"})
    write_agent(name, "sleep 300");
  for (const char* name : {"stopped_auto", "new_auto"})
    scratch.file("templates/" + std::string(name) + ".toml",
                 "name = \"" + std::string(name) +
                     "\"\nprofile = \"OFF\"\ncommand = [\"sleep\", \"300\"]\nautostart = true\n");
  open();
  agents->start_wanted({{"wanted", "running"}, {"stopped_auto", "stopped"}, {"gone", "running"}});
  run_until_state("wanted", AgentState::running);
  run_until_state("new_auto", AgentState::running);
  CHECK(state("stopped_auto") == AgentState::stopped);
  CHECK(state("other") == AgentState::stopped);
}

TEST_CASE_METHOD(
    AgentsFixture,
    "what a reload adds starts with it, unless it was stopped by hand or only changed") {
  const auto write_auto = [&](const std::string& name, const std::string& autostart) {
    scratch.file("templates/" + name + ".toml",
                 "name = \"" + name + "\"\nprofile = \"OFF\"\ncommand = [\"sleep\", \"300\"]\n" +
                     "autostart = " + autostart + "\n");
  };
  const auto remove = [&](const std::string& name) {
    std::filesystem::remove(scratch.path() + "/templates/" + name + ".toml");
  };
  write_auto("changed", "false");
  write_auto("by_hand", "true");
  open();
  agents->start_wanted({{"by_hand", "running"}, {"long_ago", "stopped"}});
  run_until_state("by_hand", AgentState::running);
  agents->stop("by_hand", ignored());
  run_until_state("by_hand", AgentState::stopped);
  remove("by_hand");
  REQUIRE(catalog.reload().empty());
  agents->start_added();

  write_auto("changed", "true");
  write_auto("by_hand", "true");
  write_auto("long_ago", "true");
  write_auto("added", "true");
  write_auto("added_by_name_only", "false");
  REQUIRE(catalog.reload().empty());
  agents->start_added();
  run_until_state("added", AgentState::running);
  run_for(50ms);
  for (const char* name : {"changed", "by_hand", "long_ago", "added_by_name_only"}) {
    INFO(name);
    CHECK(state(name) == AgentState::stopped);
  }
  CHECK(last_wanted("added") == "running");
  const std::size_t starts = count("agent.started");
  agents->start_added();
  run_for(50ms);
  CHECK(count("agent.started") == starts);
}

TEST_CASE_METHOD(AgentsFixture,
                 "a template that a reload takes away stays in force for what runs") {
  write_agent("a", "sleep 300", quick);
  open();
  agents->start("a", ignored());
  run_until_state("a", AgentState::running);
  std::filesystem::remove(scratch.path() + "/templates/a.toml");
  REQUIRE(catalog.reload().empty());
  REQUIRE(agents->removed().size() == 1);
  std::string why;
  agents->restart("a", [&](const Result<AgentAnswer>& answer) { why = answer.error().message; });
  CHECK(why.find("the template of agent 'a' is gone") == 0);
  const RunId first = agents->status("a")->run;
  ::kill(table->find(first)->receipt->pid, SIGKILL);
  run_until([&] { return state("a") == AgentState::running && agents->status("a")->run != first; });
  agents->stop("a", ignored());
  run_until_state("a", AgentState::stopped);
  std::optional<ErrorCode> code;
  agents->start("a", [&](const Result<AgentAnswer>& answer) { code = answer.error().code; });
  CHECK(code == ErrorCode::unknown_agent);
}

TEST_CASE_METHOD(AgentsFixture, "a spent budget freezes an agent, and a grant lets it go on") {
  write_agent("a", "while :; do echo beat; sleep 0.02; done", quick);
  open();
  agents->start("a", ignored());
  run_until_state("a", AgentState::running);
  std::size_t beats = 0;
  agents->log("a")->follow(0, [&](const AgentLog::Lines& lines) { beats += lines.size(); });
  run_until([&] { return beats > 2; });
  agents->budget_spent("a");
  CHECK(state("a") == AgentState::frozen);
  run_for(200ms);
  const std::size_t then = beats;
  run_for(300ms);
  CHECK(beats == then);
  agents->budget_granted("a");
  CHECK(state("a") == AgentState::running);
  run_until([&] { return beats > then + 2; });

  agents->budget_spent("a");
  agents->stop("a", ignored());
  run_until_state("a", AgentState::stopped);
  run_until([&] { return count("agent.frozen") == 2 && count("agent.thawed") == 1; });
}

TEST_CASE_METHOD(AgentsFixture,
                 "an agent that writes faster than its log waits, and loses nothing") {
  write_agent("a", "yes 0123456789012345678901234567890123456789 | head -n 100000; echo end",
              "[log]\nbytes = \"64MiB\"\n");
  open();
  agents->start("a", ignored());
  run_until([&] { return count("agent.stopped") == 1; });
  run_until([&] { return worker->pending() == 0; });
  std::optional<std::size_t> lines;
  agents->log("a")->tail(10'000,
                         [&](const Result<AgentLog::Lines>& tail) { lines = tail->size(); });
  run_until([&] { return lines.has_value(); });
  const std::string path = scratch.path() + "/agents/a/log";
  const std::string text = kernel::read_file(path, 64u << 20).value();
  CHECK(std::count(text.begin(), text.end(), '\n') == 100'001);
}

TEST_CASE_METHOD(AgentsFixture, "an agent that charges without end is read at a bounded pace") {
  write_agent(
      "a",
      R"(read init; echo '{"type":"ready"}'; exec yes '{"type":"charge","dim":"x","amount":1}')",
      "protocol = \"jsonl\"\n[restart]\nstop_seconds = 1\n");
  open();
  const auto begin = kernel::Clock::now();
  agents->start("a", ignored());
  run_until_state("a", AgentState::running);
  run_for(1s);
  const std::chrono::duration<double> took = kernel::Clock::now() - begin;
  // What it has at its start, two seconds' worth, and one read past it.
  CHECK(sum.charged["a"] > 0);
  CHECK(static_cast<double>(sum.charged["a"]) <
        (2 + took.count()) * messages_per_second_max + 64 * 1024 / 38);
  const auto then = sum.charged["a"];
  run_until([&] { return sum.charged["a"] > then; });  // it is not forgotten
}

TEST_CASE_METHOD(AgentsFixture, "each charge counts, however fast they come") {
  write_agent("a", R"(read init; echo '{"type":"ready"}'
yes '{"type":"charge","dim":"x","amount":1}' | head -n 5000
echo '{"type":"exit","exit_kind":"completed"}')",
              "protocol = \"jsonl\"\n");
  open();
  agents->start("a", ignored());
  run_until([&] { return count("agent.stopped") == 1; });
  CHECK(sum.charged["a"] == 5000);
}

TEST_CASE_METHOD(
    AgentsFixture,
    "what a drain stopped runs again when it is cancelled, but not what was unwanted") {
  write_agent("a", "sleep 300", quick);
  write_agent("slow", "trap 'sleep 0.5; exit 0' TERM; echo set; while :; do sleep 0.1; done",
              quick);
  write_agent("unwanted", "sleep 300", quick);
  open();
  for (const char* name : {"a", "slow", "unwanted"}) agents->start(name, ignored());
  for (const char* name : {"a", "slow", "unwanted"}) run_until_state(name, AgentState::running);
  std::size_t lines = 0;
  agents->log("slow")->follow(10, [&](const AgentLog::Lines& more) { lines += more.size(); });
  run_until([&] { return lines > 0; });
  agents->stop("unwanted", ignored());
  run_until_state("unwanted", AgentState::stopped);
  const RunId first = agents->status("a")->run;
  const RunId slow = agents->status("slow")->run;
  table->drain(0ms, DrainUntil::cancelled, {});
  run_until_state("a", AgentState::stopped);
  REQUIRE(agents->status("slow")->run == slow);  // it has its grace
  REQUIRE(table->undrain());
  agents->start_again();
  run_until([&] { return state("a") == AgentState::running && agents->status("a")->run != first; });
  run_until(
      [&] { return state("slow") == AgentState::running && agents->status("slow")->run != slow; });
  CHECK(state("unwanted") == AgentState::stopped);
}

TEST_CASE_METHOD(AgentsFixture, "the record of a run that the daemon ended has the reason") {
  write_agent("a", "sleep 300", quick);
  write_agent("mute", "sleep 300", std::string("protocol = \"jsonl\"\n") + quick);
  open();
  const auto detail_of = [&](const RunId& run) { return table->find(run)->result->detail; };
  agents->start("mute", ignored());
  agents->start("a", ignored());
  run_until_state("a", AgentState::running);
  const RunId restarted = agents->status("a")->run;
  agents->restart("a", ignored());
  run_until(
      [&] { return state("a") == AgentState::running && agents->status("a")->run != restarted; });
  CHECK(detail_of(restarted) == "agent restart");
  const RunId stopped = agents->status("a")->run;
  agents->stop("a", ignored());
  run_until_state("a", AgentState::stopped);
  CHECK(detail_of(stopped) == "agent stop");

  sum.spent = {{"cpu_s", {.limit = 3, .used = 4}}, {"x", {.limit = 3, .used = 2}}};
  agents->start("a", ignored());
  run_until_state("a", AgentState::running);
  const RunId frozen = agents->status("a")->run;
  agents->budget_spent("a");
  agents->stop("a", ignored());
  run_until_state("a", AgentState::stopped);
  CHECK(detail_of(frozen) ==
        "agent stop; its budget of cpu_s was spent and it was stopped while frozen");

  run_until([&] { return !agents->status("mute")->run.empty(); });
  const RunId mute = agents->status("mute")->run;
  run_until_state("mute", AgentState::failed);
  CHECK(detail_of(mute) == "no 'ready' within 5 s of 'init'");
}

TEST_CASE_METHOD(AgentsFixture, "an agent that says exit and goes on is ended") {
  const auto write = [&](const std::string& name, const std::string& trap) {
    write_agent(name, trap + R"(read init; echo '{"type":"ready"}'
echo '{"type":"exit","exit_kind":"completed"}'; while :; do sleep 0.1; done)",
                "protocol = \"jsonl\"\n[restart]\nstop_seconds = 0.5\n");
  };
  write("idle", "");
  write("deaf", "trap '' TERM; ");
  open();
  for (const char* name : {"idle", "deaf"}) agents->start(name, ignored());
  for (const char* name : {"idle", "deaf"}) {
    INFO(name);
    run_until_state(name, AgentState::failed);
    CHECK(agents->status(name)->reason ==
          "killed_by_request: said 'completed' and did not end within 0.5 s");
    CHECK(table->find(agents->status(name)->last_end->run)->result->detail ==
          "said 'completed' and did not end within 0.5 s");
  }
}

TEST_CASE_METHOD(AgentsFixture, "a line without its end is in the log after a moment of silence") {
  write_agent(
      "a", R"(read init; echo '{"type":"ready"}'; printf 'Password: ' >&2; printf '50 %%'; sleep 2.5
echo ' done'; printf '{"type":"log","level":"info",'; sleep 2.5; echo '"text":"whole"}'; sleep 300)",
      std::string("protocol = \"jsonl\"\n") + quick);
  open();
  agents->start("a", ignored());
  std::vector<std::string> lines;
  agents->log("a")->follow(10, [&](const AgentLog::Lines& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  });
  const auto has = [&](const std::string& end) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.ends_with(end + "}"); });
  };
  run_until([&] { return has(R"("stream":"stderr","text":"Password: ")"); });
  run_until([&] { return has(R"("stream":"stdout","text":"50 %")"); });
  CHECK_FALSE(has(R"("text":" done")"));
  run_until([&] { return has(R"("stream":"stdout","text":" done")"); });
  run_until([&] { return has(R"("level":"info","text":"whole")"); });
}
