#include "supervisor/ledger/ledger_reader.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include "ledger_fixture.hpp"

using namespace paddock::supervisor;
using namespace paddock::tests;

namespace {

std::vector<std::string> ids(const std::vector<RunRow>& runs) {
  std::vector<std::string> ids;
  for (const RunRow& run : runs) ids.push_back(run.id);
  return ids;
}

std::vector<std::uint64_t> seqs(const std::vector<StoredEvent>& events) {
  std::vector<std::uint64_t> seqs;
  for (const StoredEvent& stored : events) seqs.push_back(stored.seq);
  return seqs;
}

using Ids = std::vector<std::string>;
using Seqs = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE_METHOD(LedgerDirectory, "everything that was written is read back as it was") {
  Transition transition = sample_transition(1, "finished");
  transition.run->agent_process =
      paddock::kernel::ProcessMark{.pid = 12, .start_ticks = 34, .boot_id = "boot"};
  transition.run->exit_code = -1;
  transition.run->degraded = "memory,pids";
  transition.run->parent = "r-0";
  transition.event.body = std::string("a\0b\xff", 4) + "'; DROP TABLE runs; --";
  transition.agent = AgentRow{.name = "x", .wanted = "running"};
  transition.budgets = {{.agent = "x",
                         .dimension = "tokens",
                         .limit = 10,
                         .granted = 5,
                         .used = 11,
                         .warned = true,
                         .breached = false}};
  LedgerWriter writer = open();
  REQUIRE(writer.apply(std::array{transition}));
  LedgerReader reads = reader();
  const auto run = reads.run("r-1").value();
  REQUIRE(run);
  CHECK(run->row == transition.run);
  CHECK(run->policy_text == transition.policy->text);
  REQUIRE(run->events.size() == 1);
  CHECK(run->events[0].event == transition.event);
  CHECK(run->events[0].hash.size() == 64);
  CHECK(reads.agents().value() == std::vector{*transition.agent});
  CHECK(reads.budgets().value() == transition.budgets);
  CHECK(reads.head().value() == writer.head());
}

TEST_CASE_METHOD(LedgerDirectory, "a run that is not there is no failure") {
  open();
  const auto run = reader().run("r-1");
  REQUIRE(run);
  CHECK_FALSE(run->has_value());
}

TEST_CASE_METHOD(LedgerDirectory, "a reader sees what a writer beside it commits, and only that") {
  LedgerWriter writer = open();
  LedgerReader reads = reader();
  CHECK(reads.head().value().seq == 0);
  REQUIRE(writer.apply(std::array{sample_transition(1, "starting")}));
  CHECK(reads.head().value().seq == 1);
  SQLite::Database other(path(), SQLite::OPEN_READWRITE);
  const SQLite::Transaction hold(other, SQLite::TransactionBehavior::IMMEDIATE);
  other.exec("DELETE FROM events");
  CHECK(reads.events({}).value().size() == 1);
}

TEST_CASE_METHOD(LedgerDirectory, "a writer is not held up by who reads") {
  LedgerWriter writer = open();
  REQUIRE(writer.apply(std::array{sample_transition(1, "starting")}));
  SQLite::Database other(path(), SQLite::OPEN_READONLY);
  const SQLite::Transaction snapshot(other);
  CHECK(other.execAndGet("SELECT count(*) FROM events").getInt() == 1);
  CHECK(writer.apply(std::array{sample_transition(1, "finished")}) == 2u);
  CHECK(other.execAndGet("SELECT count(*) FROM events").getInt() == 1);
}

TEST_CASE_METHOD(LedgerDirectory, "runs are found by state, tenant and agent, the last one first") {
  write_runs(6);
  REQUIRE(open().apply(std::array{sample_transition(7, "running"), sample_transition(9, "starting"),
                                  sample_transition(8, "starting")}));
  LedgerReader reads = reader();
  CHECK(ids(reads.runs({}).value()) ==
        Ids{"r-8", "r-9", "r-7", "r-6", "r-5", "r-4", "r-3", "r-2", "r-1"});
  CHECK(ids(reads.runs({.state = "finished", .tenant = {}, .agent = {}, .limit = 2}).value()) ==
        Ids{"r-6", "r-5"});
  CHECK(ids(reads.runs({.state = "starting", .tenant = {}, .agent = {}}).value()) ==
        Ids{"r-8", "r-9"});
  CHECK(ids(reads.runs({.state = {}, .tenant = "even", .agent = {}}).value()) ==
        Ids{"r-8", "r-6", "r-4", "r-2"});
  CHECK(ids(reads.runs({.state = "finished", .tenant = "odd", .agent = "third"}).value()) ==
        Ids{"r-3"});
  CHECK(ids(reads.runs({.state = {}, .tenant = {}, .agent = ""}).value()) ==
        Ids{"r-8", "r-7", "r-5", "r-4", "r-2", "r-1"});
  CHECK(ids(reads.unfinished_runs().value()) == Ids{"r-7", "r-9", "r-8"});
}

TEST_CASE_METHOD(LedgerDirectory, "runs of a parent that is left out take no place of others") {
  LedgerWriter writer = open();
  for (int number = 1; number <= 6; ++number) {
    Transition transition = sample_transition(number, "finished");
    if (number > 3) transition.run->parent = "canary";
    REQUIRE(writer.apply(std::array{transition}));
  }
  LedgerReader reads = reader();
  RunFilter filter;
  filter.limit = 2;
  CHECK(ids(reads.runs(filter).value()) == Ids{"r-6", "r-5"});
  filter.parent_is_not = "canary";
  CHECK(ids(reads.runs(filter).value()) == Ids{"r-3", "r-2"});
  filter.state = "starting";
  CHECK(reads.runs(filter).value().empty());
}

TEST_CASE_METHOD(LedgerDirectory, "events are found by seq, tenant, subject and kind, in order") {
  write_runs(4);
  LedgerReader reads = reader();
  CHECK(seqs(reads.events({}).value()) == Seqs{1, 2, 3, 4, 5, 6, 7, 8});
  EventFilter filter;
  filter.after = 6;
  CHECK(seqs(reads.events(filter).value()) == Seqs{7, 8});
  filter = {};
  filter.tenant = "even";
  CHECK(seqs(reads.events(filter).value()) == Seqs{3, 4, 7, 8});
  filter.after = 3;
  filter.kind_prefix = "run.f";
  CHECK(seqs(reads.events(filter).value()) == Seqs{4, 8});
  filter = {};
  filter.subject = "r-3";
  CHECK(seqs(reads.events(filter).value()) == Seqs{5, 6});
  filter = {};
  filter.limit = 3;
  CHECK(seqs(reads.events(filter).value()) == Seqs{1, 2, 3});
  filter.kind_prefix = "%";
  CHECK(reads.events(filter).value().empty());
}

TEST_CASE_METHOD(LedgerDirectory, "order is by seq, whatever the clock says") {
  LedgerWriter writer = open();
  for (const int at_seconds : {3000, 1000, 2000})
    REQUIRE(writer.apply(std::array{sample_transition(at_seconds, "starting", at_seconds)}));
  LedgerReader reads = reader();
  CHECK(ids(reads.runs({}).value()) == Ids{"r-2000", "r-1000", "r-3000"});
  CHECK(seqs(reads.events({}).value()) == Seqs{1, 2, 3});
}

TEST_CASE_METHOD(LedgerDirectory, "no question that a daemon asks reads a whole table") {
  open();
  SQLite::Database database(path(), SQLite::OPEN_READONLY);
  for (const char* question :
       {"SELECT * FROM runs INDEXED BY runs_unfinished WHERE state <> 'finished' ORDER BY number",
        "SELECT * FROM runs WHERE state <> 'finished' AND state = ? ORDER BY number DESC LIMIT ?",
        "SELECT * FROM runs WHERE tenant = ? ORDER BY number DESC LIMIT ?",
        "SELECT * FROM runs WHERE agent <> '' AND agent = ? ORDER BY number DESC LIMIT ?",
        "SELECT * FROM runs WHERE id = ?", "SELECT 1 FROM runs WHERE policy_hash = ? LIMIT 1",
        "SELECT * FROM events WHERE subject = ? ORDER BY seq LIMIT ?",
        "SELECT * FROM events WHERE seq > CAST(? AS INTEGER) ORDER BY seq LIMIT ?",
        "SELECT * FROM events WHERE seq > CAST(? AS INTEGER) AND tenant = ? ORDER BY seq LIMIT ?",
        "SELECT * FROM verdicts WHERE request_id <> '' AND tenant = ? AND request_id = ? "
        "ORDER BY event_seq LIMIT ?",
        "SELECT 1 FROM verdicts WHERE nonce <> '' AND tenant = ? AND nonce = ? LIMIT 1",
        "SELECT * FROM verdicts WHERE event_seq = ?", "DELETE FROM events WHERE seq <= ?"}) {
    SQLite::Statement plan(database, std::string("EXPLAIN QUERY PLAN ") + question);
    REQUIRE(plan.executeStep());
    INFO(question << ": " << plan.getColumn(3).getString());
    // "SCAN ... USING INDEX" is of the partial index, which holds the unfinished ones alone.
    CHECK_THAT(plan.getColumn(3).getString(),
               Catch::StartsWith("SEARCH") || Catch::Contains("runs_unfinished"));
  }
}
