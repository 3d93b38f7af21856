#include "supervisor/ledger/retention.hpp"

#include "ledger_fixture.hpp"

using namespace paddock::supervisor;
using namespace paddock::tests;
using namespace std::chrono_literals;
using paddock::kernel::ErrorCode;

namespace {

std::size_t deleted(const std::vector<std::int64_t>& at, bool is_too_big = false) {
  std::vector<AgedEvent> events;
  for (const std::int64_t at_us : at) events.push_back({.at_us = at_us, .is_pruning = false});
  return events_to_delete(events, /*cutoff_us=*/100, /*now_us=*/200, is_too_big);
}

std::chrono::system_clock::time_point at(std::int64_t seconds) {
  return std::chrono::system_clock::time_point(seconds * 1s);
}

LedgerLimits keep_one_hour() {
  return {.keep = 1h, .keep_bytes = 1ull << 40};
}

// Runs with numbers from `first` to `last`, started and finished at `seconds`.
void write_at(LedgerWriter& writer, int first, int last, std::int64_t seconds) {
  std::vector<Transition> transitions;
  for (int i = first; i <= last; ++i)
    for (const char* state : {"starting", "finished"})
      transitions.push_back(sample_transition(i, state, seconds));
  REQUIRE(writer.apply(transitions));
}

std::size_t prune_all(LedgerWriter& writer, const LedgerLimits& limits,
                      std::chrono::system_clock::time_point now) {
  std::size_t all = 0;
  for (int calls = 0; calls < 100; ++calls) {
    const auto count = writer.prune(limits, now);
    REQUIRE(count);
    if (*count == 0) return all;
    all += *count;
  }
  FAIL("pruning does not end");
  return all;
}

}  // namespace

TEST_CASE("events go by age up to the first that has to stay") {
  CHECK(deleted({}) == 0);
  CHECK(deleted({100, 50}) == 0);
  CHECK(deleted({99}) == 1);
  CHECK(deleted({10, 50, 99, 100, 50}) == 3);
}

TEST_CASE("an event that claims to be of the future goes with the old one behind it") {
  CHECK(deleted({201, 50, 150}) == 2);
  CHECK(deleted({50, 201, 150}) == 1);
  CHECK(deleted({201, 202}) == 0);
}

TEST_CASE("when the file is too big the oldest go whatever their age") {
  CHECK(deleted({150, 160, 170}, /*is_too_big=*/true) == 3);
}

TEST_CASE("a ledger.pruned does not go only to be followed by the next") {
  const std::vector<AgedEvent> events = {{.at_us = 1, .is_pruning = true},
                                         {.at_us = 2, .is_pruning = false},
                                         {.at_us = 150, .is_pruning = false}};
  CHECK(events_to_delete(std::span(events).first(1), 100, 200, false) == 0);
  CHECK(events_to_delete(std::span(events).first(1), 100, 200, true) == 0);
  CHECK(events_to_delete(events, 100, 200, false) == 2);
}

TEST_CASE("the anchor comes back from the body of ledger.pruned") {
  const LedgerHead anchor{.seq = 7, .hash = std::string(64, 'a')};
  CHECK(anchor_in(pruned_body(anchor, 3, 2)) == anchor);
  CHECK_FALSE(anchor_in("{}"));
  CHECK_FALSE(anchor_in("x"));
  CHECK_FALSE(anchor_in(R"({"seq":"7","hash":7})"));
}

TEST_CASE_METHOD(LedgerDirectory, "what is pruned leaves a chain that is whole, and says so") {
  LedgerWriter writer = open();
  write_at(writer, 1, 10, 1000);
  const LedgerHead before = writer.head();
  write_at(writer, 11, 20, 10'000);
  CHECK(prune_all(writer, keep_one_hour(), at(10'001)) == 20);
  const Verification found = verify();
  CHECK_FALSE(found.edit);
  CHECK(found.anchor == before);
  CHECK(found.events == 21);
  CHECK(found.rows == 12);  // 10 runs, 2 policies that they still use
  LedgerReader reads = reader();
  CHECK_FALSE(reads.run("r-10").value());
  CHECK(reads.run("r-11").value()->policy_text == "text of odd");
  const StoredEvent pruned =
      reads.events({.after = 40, .tenant = {}, .subject = {}, .kind_prefix = {}}).value().at(0);
  CHECK(pruned.event.kind == "ledger.pruned");
  CHECK(anchor_in(pruned.event.body) == before);
  CHECK(ask("SELECT body ->> 'events' FROM events WHERE kind = 'ledger.pruned'") == 20);
  CHECK(ask("SELECT body ->> 'runs' FROM events WHERE kind = 'ledger.pruned'") == 10);
}

TEST_CASE_METHOD(LedgerDirectory, "a pruned ledger is written on, opened and pruned again") {
  {
    LedgerWriter writer = open();
    write_at(writer, 1, 10, 1000);
    prune_all(writer, keep_one_hour(), at(10'000));
  }
  LedgerWriter writer = open();
  write_at(writer, 11, 20, 20'000);
  CHECK_FALSE(verify().edit);
  prune_all(writer, keep_one_hour(), at(90'000));
  CHECK_FALSE(verify().edit);
  CHECK(reader().runs({}).value().empty());
  CHECK(ask("SELECT count(*) FROM policies") == 0);
}

TEST_CASE_METHOD(LedgerDirectory, "a run that is not finished keeps its row and its policy") {
  LedgerWriter writer = open();
  REQUIRE(writer.apply(std::array{sample_transition(1, "starting", 1000)}));
  write_at(writer, 2, 20, 1000);
  prune_all(writer, keep_one_hour(), at(10'000));
  LedgerReader reads = reader();
  const auto run = reads.run("r-1").value();
  REQUIRE(run);
  CHECK(run->row == sample_run(1, "starting"));
  CHECK(run->policy_text == "text of odd");
  CHECK(reads.runs({}).value().size() == 1);
  CHECK(ask("SELECT count(*) FROM policies") == 1);
  CHECK_FALSE(verify().edit);
  SECTION("and is still covered by the chain") {
    edit("UPDATE runs SET launcher_pid = 99 WHERE id = 'r-1'");
    const auto found = verify().edit;
    REQUIRE(found);
    CHECK_THAT(found->what, Catch::Contains("the row of run r-1 has been edited since event"));
  }
  SECTION("and goes once it is finished") {
    REQUIRE(writer.apply(std::array{sample_transition(1, "finished", 11'000)}));
    CHECK_FALSE(verify().edit);
    prune_all(writer, keep_one_hour(), at(90'000));
    CHECK(reads.runs({}).value().empty());
    CHECK_FALSE(verify().edit);
  }
}

TEST_CASE_METHOD(LedgerDirectory, "agents and budgets stay when their events go") {
  LedgerWriter writer = open();
  Transition transition = sample_transition(1, "finished", 1000);
  transition.agent = AgentRow{.name = "a", .wanted = "running"};
  transition.budgets = {{.agent = "a", .dimension = "tokens", .limit = 1, .used = 1}};
  REQUIRE(writer.apply(std::array{transition, sample_transition(2, "finished", 1000)}));
  prune_all(writer, keep_one_hour(), at(10'000));
  CHECK(reader().agents().value().size() == 1);
  CHECK(reader().budgets().value().size() == 1);
  CHECK_FALSE(verify().edit);
}

TEST_CASE_METHOD(LedgerDirectory, "pruning covers up no edit of a row that stays") {
  LedgerWriter writer = open();
  REQUIRE(writer.apply(std::array{sample_transition(1, "starting", 1000)}));
  write_at(writer, 2, 3, 1000);
  edit("UPDATE runs SET tenant = 'x' WHERE id = 'r-1'");
  prune_all(writer, keep_one_hour(), at(10'000));
  const auto found = verify().edit;
  REQUIRE(found);
  CHECK_THAT(found->what, Catch::Contains("the row of run r-1 has been edited"));
}

TEST_CASE_METHOD(LedgerDirectory, "what is too big is pruned until it is not, or little is left") {
  LedgerWriter writer = open();
  write_at(writer, 1, 1500, 1000);
  LedgerLimits limits{.keep = 1h, .keep_bytes = 1};
  prune_all(writer, limits, at(1000));
  CHECK_FALSE(verify().edit);
  CHECK(ask("SELECT count(*) FROM events") == 1);  // the ledger.pruned
  CHECK(ask("SELECT count(*) FROM runs") == 0);
  CHECK(writer.apply(std::array{sample_transition(1, "starting", 1000)}));
  CHECK_FALSE(verify().edit);
}

TEST_CASE_METHOD(LedgerDirectory, "pruned space is used again and given back") {
  LedgerWriter writer = open();
  write_at(writer, 1, 1500, 1000);
  const std::int64_t before = ask("PRAGMA page_count");
  prune_all(writer, keep_one_hour(), at(10'000));
  CHECK(ask("PRAGMA page_count") < before / 2);
}

TEST_CASE_METHOD(LedgerDirectory, "one step deletes a bounded number of events") {
  LedgerWriter writer = open();
  write_at(writer, 1, 1500, 1000);
  CHECK(writer.prune(keep_one_hour(), at(10'000)) == 250u);
  CHECK_FALSE(verify().edit);
}

TEST_CASE_METHOD(LedgerDirectory, "a remembered head that has been pruned cannot be checked") {
  LedgerWriter writer = open();
  write_at(writer, 1, 1, 1000);
  const LedgerHead early = writer.head();
  write_at(writer, 2, 2, 1000);
  const LedgerHead anchor = writer.head();
  write_at(writer, 3, 3, 10'000);
  prune_all(writer, keep_one_hour(), at(10'000));
  const auto gone = verify_ledger(path(), early);
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == ErrorCode::not_recorded);
  CHECK_THAT(gone.error().message, Catch::Contains("nothing is known of event 2 any more"));
  CHECK_FALSE(verify_ledger(path(), anchor).value().edit);
  LedgerHead other = anchor;
  other.hash[0] = other.hash[0] == '0' ? '1' : '0';
  CHECK(verify_ledger(path(), other).value().edit);
}
