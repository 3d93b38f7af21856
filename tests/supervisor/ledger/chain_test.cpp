#include "supervisor/ledger/chain.hpp"

#include <set>

#include "supervisor/ledger/fields.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;
using paddock::kernel::ProcessMark;
using namespace std::chrono_literals;

namespace {

const Event event{.kind = "run.finished",
                  .subject = "r-1",
                  .tenant = "a",
                  .body = "{}",
                  .at = std::chrono::system_clock::time_point(5s)};

std::string hash_of(const Event& changed) {
  return event_hash(hash_before_all, 1, changed, "rows");
}

}  // namespace

TEST_CASE("an event's hash covers every part of it") {
  std::vector<Event> events(6, event);
  events[1].kind = "run.finishee";
  events[2].subject = "r-2";
  events[3].tenant = "b";
  events[4].body = "{ }";
  events[5].at += 1us;
  std::set<std::string> hashes;
  for (const Event& changed : events) hashes.insert(hash_of(changed));
  hashes.insert(event_hash(std::string(64, '1'), 1, event, "rows"));
  hashes.insert(event_hash(hash_before_all, 2, event, "rows"));
  hashes.insert(event_hash(hash_before_all, 1, event, "row"));
  CHECK(hashes.size() == 9);
}

TEST_CASE("what moves from one field to the next changes an event's hash") {
  Event moved = event;
  moved.kind = "run.finishe";
  moved.subject = "dr-1";
  CHECK(hash_of(moved) != hash_of(event));
}

TEST_CASE("an event's hash stays what it is from version to version") {
  // The ledgers that are out there were written with it. The expected
  // one is sha256sum's, of "64:000...0,1:1,7:5000000,12:run.finished,3:r-1,1:a,2:{},4:rows,".
  CHECK(hash_of(event) == "fe0d7bda31740e48d848fbbf113fd41a190757ff4c615fa112b629fcede72e87");
}

TEST_CASE("a run's digest covers every column") {
  const std::vector<void (*)(RunRow&)> changes = {
      [](RunRow&) {},
      [](RunRow& row) { row.id = "x"; },
      [](RunRow& row) { row.state = "x"; },
      [](RunRow& row) { row.tenant = "x"; },
      [](RunRow& row) { row.profile = "x"; },
      [](RunRow& row) { row.agent = "x"; },
      [](RunRow& row) { row.parent = "x"; },
      [](RunRow& row) { row.policy_hash = "x"; },
      [](RunRow& row) { row.created_us = 1; },
      [](RunRow& row) { row.started_us = 1; },
      [](RunRow& row) { row.ended_us = 1; },
      [](RunRow& row) { row.launcher = ProcessMark{}; },
      [](RunRow& row) { row.launcher = ProcessMark{.pid = 1, .start_ticks = 0, .boot_id = ""}; },
      [](RunRow& row) { row.launcher = ProcessMark{.pid = 0, .start_ticks = 1, .boot_id = ""}; },
      [](RunRow& row) { row.launcher = ProcessMark{.pid = 0, .start_ticks = 0, .boot_id = "x"}; },
      [](RunRow& row) { row.agent_process = ProcessMark{}; },
      [](RunRow& row) { row.cause = "x"; },
      [](RunRow& row) { row.exit_code = 1; },
      [](RunRow& row) { row.cpu_us = 1; },
      [](RunRow& row) { row.wall_us = 1; },
      [](RunRow& row) { row.max_rss_bytes = 1; },
      [](RunRow& row) { row.written_bytes = 1; },
      [](RunRow& row) { row.degraded = "x"; },
  };
  std::set<std::string> digests;
  for (const auto& change : changes) {
    RunRow row;
    change(row);
    digests.insert(written(row).digest);
  }
  CHECK(digests.size() == changes.size());
}

TEST_CASE("the digests of agents, budgets and policies cover every column") {
  std::set<std::string> digests;
  digests.insert(written(AgentRow{.name = "a", .wanted = "running"}).digest);
  digests.insert(written(AgentRow{.name = "b", .wanted = "running"}).digest);
  digests.insert(written(AgentRow{.name = "a", .wanted = "stopped"}).digest);
  digests.insert(written(PolicyRow{.hash = "h", .text = "t"}).digest);
  digests.insert(written(PolicyRow{.hash = "h", .text = "u"}).digest);
  digests.insert(written(PolicyRow{.hash = "i", .text = "t"}).digest);
  const BudgetRow budget{.agent = "a",
                         .dimension = "d",
                         .limit = 0,
                         .granted = 0,
                         .used = 0,
                         .warned = false,
                         .breached = false};
  std::vector<BudgetRow> budgets(8, budget);
  budgets[1].agent = "x";
  budgets[2].dimension = "x";
  budgets[3].limit = 1;
  budgets[4].used = 1;
  budgets[5].warned = true;
  budgets[6].breached = true;
  budgets[7].granted = 1;
  for (const BudgetRow& row : budgets) digests.insert(written(row).digest);
  CHECK(digests.size() == 14);
}

TEST_CASE("a verdict's digest covers every column, and its key is the seq of its event") {
  const VerdictRow row{.tenant = "t", .request_id = "r", .item = "i", .nonce = "n", .answer = "{}"};
  std::vector<VerdictRow> rows(6, row);
  rows[1].tenant = "x";
  rows[2].request_id = "x";
  rows[3].item = "x";
  rows[4].nonce = "x";
  rows[5].answer = "x";
  std::set<std::string> digests;
  for (const VerdictRow& one : rows) digests.insert(written(one, 7).digest);
  CHECK(digests.size() == 6);
  CHECK(written(row, 812).key == "812");
  CHECK(written(row, 812).kind == RowKind::verdict);
}

TEST_CASE("written rows come back from their text, whatever their keys hold") {
  const std::vector<WrittenRow> rows = {{RowKind::run, "r-1", "d1"},
                                        {RowKind::policy, "", "d2"},
                                        {RowKind::agent, "a,3:b\n\0" + std::string(1, '\0'), "d3"},
                                        {RowKind::budget, "1:a,1:b,", "d4"},
                                        {RowKind::verdict, "812", "d5"}};
  CHECK(decode_rows(encode_rows(rows)) == rows);
  CHECK(decode_rows("") == std::vector<WrittenRow>{});
}

TEST_CASE("a text that is not of written rows is told apart") {
  const std::string good = encode_rows({{RowKind::run, "r-1", "d1"}});
  for (std::size_t length = 1; length < good.size(); ++length)
    CHECK_FALSE(decode_rows(good.substr(0, length)));
  CHECK_FALSE(decode_rows("3:cat,1:k,1:d,"));
  CHECK_FALSE(decode_rows("x"));
  CHECK_FALSE(decode_rows("99999999999999999999:a,"));
  CHECK_FALSE(decode_rows("18446744073709551615:a,"));
  CHECK_FALSE(decode_rows("-1:a,"));
}

TEST_CASE("a field that is not whole is not taken") {
  std::string_view bytes = "3:abc,2:d";
  CHECK(take_field(bytes) == "abc");
  CHECK_FALSE(take_field(bytes));
  CHECK(bytes == "2:d");
}
