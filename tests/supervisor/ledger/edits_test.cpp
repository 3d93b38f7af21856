// What somebody who can write the file may do to it, and that verify finds it.

#include "ledger_fixture.hpp"

using namespace paddock::supervisor;
using namespace paddock::tests;
using paddock::kernel::ErrorCode;

namespace {

struct Edit {
  const char* sql;
  const char* found;
};

// Of a ledger with the runs r-1 to r-20: run N has the events 2N-1 and 2N.
const std::vector<Edit> edits = {
    {"UPDATE events SET at_us = at_us + 1 WHERE seq = 7", "event 7 has been edited"},
    {"UPDATE events SET kind = 'run.killed' WHERE seq = 7", "event 7 has been edited"},
    {"UPDATE events SET subject = 'r-5' WHERE seq = 7", "event 7 has been edited"},
    {"UPDATE events SET tenant = 'x' WHERE seq = 7", "event 7 has been edited"},
    {"UPDATE events SET body = '{}' WHERE seq = 7", "event 7 has been edited"},
    {"UPDATE events SET rows = '' WHERE seq = 7", "event 7 has been edited"},
    {"UPDATE events SET hash = 'x' WHERE seq = 7", "event 7 has been edited"},
    {"UPDATE events SET body = '{}' WHERE seq = 40", "event 40 has been edited"},
    {"DELETE FROM events WHERE seq = 7", "event 7 is missing"},
    {"DELETE FROM events WHERE seq = 1", "event 1 is missing"},
    {"DELETE FROM events WHERE seq <= 4; DELETE FROM runs WHERE number <= 2", "event 1 is missing"},
    {"DELETE FROM events WHERE seq = 7; UPDATE events SET seq = seq - 1 WHERE seq > 7",
     "event 7 has been edited"},
    {"UPDATE events SET seq = -1 WHERE seq = 7; UPDATE events SET seq = 7 WHERE seq = 8;"
     "UPDATE events SET seq = 8 WHERE seq = -1",
     "event 7 has been edited"},
    {"INSERT INTO events SELECT 41, at_us, kind, subject, tenant, body, rows, hash FROM events "
     "WHERE seq = 40",
     "event 41 has been edited"},
    {"INSERT INTO events SELECT 0, at_us, kind, subject, tenant, body, rows, hash FROM events "
     "WHERE seq = 1",
     "event 0 should be pruned"},
    {"DELETE FROM events WHERE seq > 38",
     "1 rows are there that no event wrote, among them run "
     "r-20"},
    {"DELETE FROM events", "rows are there that no event wrote"},
    {"UPDATE runs SET cause = 'x' WHERE id = 'r-5'",
     "the row of run r-5 has been edited since event 10 wrote it"},
    {"UPDATE runs SET cpu_us = 6 WHERE id = 'r-5'",
     "the row of run r-5 has been edited since event 10 wrote it"},
    {"UPDATE runs SET launcher_pid = 1, launcher_start_ticks = 1, launcher_boot_id = '' "
     "WHERE id = 'r-5'",
     "the row of run r-5 has been edited since event 10 wrote it"},
    {"UPDATE runs SET id = 'r-x' WHERE id = 'r-5'",
     "the row of run r-5, that event 9 wrote, is missing"},
    {"DELETE FROM runs WHERE id = 'r-5'", "the row of run r-5, that event 9 wrote, is missing"},
    {"UPDATE runs SET event_seq = 9 WHERE id = 'r-5'",
     "the row of run r-5 has been edited since event 9 wrote it"},
    // The row as it was before its last event.
    {"UPDATE runs SET event_seq = 9, state = 'starting', ended_us = 0, cause = '', cpu_us = 0, "
     "written_bytes = 0, launcher_pid = 5, launcher_start_ticks = 7, launcher_boot_id = 'boot' "
     "WHERE id = 'r-5'",
     "the row of run r-5 is an older one than event 10 wrote"},
    // The same with a pid of more bits than pids have.
    {"UPDATE runs SET event_seq = 9, state = 'starting', ended_us = 0, cause = '', cpu_us = 0, "
     "written_bytes = 0, launcher_pid = 4294967296 + 5, launcher_start_ticks = 7, "
     "launcher_boot_id = 'boot' WHERE id = 'r-5'",
     "the row of run r-5 has been edited since event 9 wrote it"},
    {"UPDATE runs SET event_seq = 8 WHERE id = 'r-5'",
     "the row of run r-5 is an older one than event 9 wrote"},
    {"UPDATE runs SET event_seq = 1000, cause = 'x' WHERE id = 'r-5'",
     "1 rows are there that no event wrote, among them run r-5"},
    {"UPDATE runs SET event_seq = 12, cause = 'x' WHERE id = 'r-5'",
     "1 rows are there that no event wrote, among them run r-5"},
    {"INSERT INTO agents VALUES ('a', 'running', 7)", "1 rows are there that no event wrote"},
    {"UPDATE policies SET text = 'x' WHERE hash = 'policy-of-odd'",
     "the row of policy policy-of-odd has been edited since event 1 wrote it"},
    {"DELETE FROM policies WHERE hash = 'policy-of-odd'",
     "the row of policy policy-of-odd, that event 1 wrote, is missing"},
    {"INSERT INTO anchor VALUES (1, 4, (SELECT hash FROM events WHERE seq = 4))",
     "event 1 should be pruned"},
    {"CREATE TABLE other (a)", "table other was added"},
    {"CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM runs; END", "trigger t was added"},
    {"CREATE VIEW v AS SELECT * FROM runs", "view v was added"},
    {"CREATE INDEX i ON runs (cause)", "index i was added"},
    {"DROP INDEX runs_by_tenant", "index runs_by_tenant is missing"},
    {"ALTER TABLE agents ADD COLUMN x", "table agents is not as it was made"},
    {"DROP TABLE anchor", "table anchor is missing"},
    {"INSERT INTO anchor VALUES (1, 0, '00')", "event 1 has been edited"},
    // With the beginning cut off as pruning does it, but for its event.
    {"INSERT INTO anchor VALUES (1, 4, (SELECT hash FROM events WHERE seq = 4));"
     "DELETE FROM events WHERE seq <= 4; DELETE FROM runs WHERE number <= 2;"
     "DELETE FROM policies",
     "the events up to 4 are missing, and no ledger.pruned says so"},
};

constexpr const char* cut_off_the_last_run =
    "DELETE FROM events WHERE seq > 38; DELETE FROM runs WHERE id = 'r-20'";

}  // namespace

TEST_CASE("every kind of edit is found, with the first event that shows it") {
  const LedgerDirectory whole;
  whole.write_runs(20);
  REQUIRE_FALSE(whole.verify().edit);
  for (const Edit& edit : edits) {
    const LedgerDirectory directory;
    std::filesystem::copy_file(whole.path(), directory.path());
    directory.edit(edit.sql);
    const Verification found = directory.verify();
    INFO(edit.sql);
    REQUIRE(found.edit);
    CHECK_THAT(found.edit->what, Catch::Contains(edit.found));
  }
}

// Before anything was pruned there is no anchor to edit.
TEST_CASE("every edit of the anchor of a pruned ledger is found") {
  const LedgerDirectory whole;
  {
    LedgerWriter writer = whole.open();
    for (int i = 1; i <= 4; ++i)
      REQUIRE(writer.apply(std::array{sample_transition(i, "finished", i <= 3 ? 1000 : 10'000)}));
    REQUIRE(writer.prune({.keep = std::chrono::hours(1), .keep_bytes = 1ull << 40},
                         std::chrono::system_clock::time_point(std::chrono::seconds(10'001))) ==
            3u);
  }
  REQUIRE_FALSE(whole.verify().edit);
  REQUIRE(whole.verify().anchor.seq == 3);
  for (const Edit& edit : std::vector<Edit>{
           {"UPDATE anchor SET hash = '00'", "event 4 has been edited"},
           {"DELETE FROM anchor", "event 1 is missing"},
           {"UPDATE anchor SET seq = 2", "event 3 is missing"},
           {"UPDATE anchor SET seq = 4, hash = (SELECT hash FROM events WHERE seq = 4);"
            "DELETE FROM events WHERE seq = 4; DELETE FROM runs WHERE id = 'r-4';"
            "DELETE FROM policies WHERE event_seq = 4",
            "the events up to 4 are missing"}}) {
    const LedgerDirectory directory;
    std::filesystem::copy_file(whole.path(), directory.path());
    directory.edit(edit.sql);
    const Verification found = directory.verify();
    INFO(edit.sql);
    REQUIRE(found.edit);
    CHECK_THAT(found.edit->what, Catch::Contains(edit.found));
  }
}

TEST_CASE_METHOD(LedgerDirectory, "a whole ledger is counted, and its head told") {
  write_runs(20);
  const Verification found = verify();
  CHECK_FALSE(found.edit);
  CHECK(found.events == 40);
  CHECK(found.rows == 22);  // 20 runs, 2 policies
  CHECK(found.head == reader().head());
  CHECK(found.anchor.seq == 0);
}

TEST_CASE_METHOD(LedgerDirectory, "an empty ledger is whole") {
  open();
  const Verification found = verify();
  CHECK_FALSE(found.edit);
  CHECK(found.events == 0);
  CHECK(found.head.seq == 0);
}

TEST_CASE_METHOD(LedgerDirectory, "an end that was cut off cleanly is found by a remembered head") {
  write_runs(20);
  const LedgerHead remembered = verify().head;
  CHECK_FALSE(verify_ledger(path(), remembered).value().edit);
  edit(cut_off_the_last_run);
  CHECK_FALSE(verify().edit);  // nothing in the file tells
  const auto found = verify_ledger(path(), remembered);
  REQUIRE(found);
  REQUIRE(found->edit);
  CHECK(found->edit->what == "the end is missing: the head was event 40, and the last event is 38");
}

TEST_CASE_METHOD(LedgerDirectory, "another end in place of the remembered one is found") {
  write_runs(20);
  const LedgerHead remembered = verify().head;
  edit(cut_off_the_last_run);
  {
    LedgerWriter writer = open();
    for (int i = 21; i < 24; ++i)
      REQUIRE(writer.apply(std::array{sample_transition(i, "finished")}));
  }
  CHECK_FALSE(verify().edit);
  const auto found = verify_ledger(path(), remembered);
  REQUIRE(found);
  REQUIRE(found->edit);
  CHECK(found->edit->what == "event 40 is not the one that was remembered");
}

TEST_CASE_METHOD(LedgerDirectory, "a remembered head stays in a chain that goes on") {
  write_runs(2);
  const LedgerHead remembered = verify().head;
  REQUIRE(open().apply(std::array{sample_transition(3, "starting")}));
  CHECK_FALSE(verify_ledger(path(), remembered).value().edit);
}

TEST_CASE("a head is SEQ:HASH and nothing else") {
  const LedgerHead head{.seq = 7, .hash = std::string(64, 'a')};
  CHECK(parse_ledger_head(to_text(head)) == head);
  for (const std::string& text :
       {std::string(), std::string("7"), std::string("7:"), "7:" + std::string(63, 'a'),
        "7:" + std::string(65, 'a'), "7:" + std::string(64, 'g'), "-7:" + head.hash,
        ":" + head.hash, "7 :" + head.hash, "99999999999999999999:" + head.hash, head.hash}) {
    const auto parsed = parse_ledger_head(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == ErrorCode::invalid_request);
  }
}
