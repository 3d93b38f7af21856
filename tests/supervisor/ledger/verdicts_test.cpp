// Verdicts in the ledger: found again by request and nonce, covered by the chain, gone with their
// event.

#include "ledger_fixture.hpp"

using namespace paddock::supervisor;
using namespace paddock::tests;
using namespace std::chrono_literals;

namespace {

VerdictRow sample_verdict(const std::string& item, const std::string& request_id = "step-1",
                          const std::string& tenant = "a") {
  return {.tenant = tenant,
          .request_id = request_id,
          .item = item,
          .nonce = request_id.empty() ? "" : "nonce-" + item,
          .answer = R"({"id":")" + item + R"("})"};
}

Transition verdict_at(const VerdictRow& row, std::int64_t at_seconds = 1000) {
  Transition transition;
  transition.event = {.kind = "verify.verdict",
                      .subject = row.request_id,
                      .tenant = row.tenant,
                      .body = "{}",
                      .at = std::chrono::system_clock::time_point(at_seconds * 1s)};
  transition.verdict = row;
  return transition;
}

std::vector<std::string> items(const std::vector<VerdictRow>& rows) {
  std::vector<std::string> items;
  for (const VerdictRow& row : rows) items.push_back(row.item);
  return items;
}

using Names = std::vector<std::string>;
using Set = std::set<std::string>;

// The file as the version before had it: without verdicts, with all else.
constexpr const char* back_to_version_1 =
    "DROP TABLE verdicts; PRAGMA user_version = 1; PRAGMA wal_checkpoint(TRUNCATE)";

}  // namespace

TEST_CASE_METHOD(LedgerDirectory, "the verdicts of a request are read back as they were written") {
  LedgerWriter writer = open();
  VerdictRow odd = sample_verdict("b");
  odd.answer = std::string("\0\xff'; DROP TABLE verdicts; --", 28);
  REQUIRE(writer.apply(std::array{verdict_at(sample_verdict("c")), verdict_at(odd)}));
  REQUIRE(writer.apply(std::array{verdict_at(sample_verdict("a"))}));
  LedgerReader reads = reader();
  const auto found = reads.verdicts_of("a", "step-1").value();
  CHECK(found == std::vector{sample_verdict("c"), odd, sample_verdict("a")});
}

TEST_CASE_METHOD(LedgerDirectory, "verdicts are found by their own tenant and request alone") {
  REQUIRE(open().apply(std::array{verdict_at(sample_verdict("a")),
                                  verdict_at(sample_verdict("b", "step-2")),
                                  verdict_at(sample_verdict("c", "step-1", "other"))}));
  LedgerReader reads = reader();
  CHECK(items(reads.verdicts_of("a", "step-1").value()) == Names{"a"});
  CHECK(items(reads.verdicts_of("other", "step-1").value()) == Names{"c"});
  CHECK(reads.verdicts_of("other", "step-2").value().empty());
  CHECK(reads.verdicts_of("", "step-1").value().empty());
}

TEST_CASE_METHOD(LedgerDirectory, "verdicts without a request belong to no request") {
  REQUIRE(open().apply(
      std::array{verdict_at(sample_verdict("a", "")), verdict_at(sample_verdict("a", ""))}));
  CHECK(reader().verdicts_of("a", "").value().empty());
  CHECK(ask("SELECT count(*) FROM verdicts") == 2);
}

TEST_CASE_METHOD(LedgerDirectory, "a nonce is seen by the tenant that used it, and by no other") {
  REQUIRE(
      open().apply(std::array{verdict_at(sample_verdict("a")), verdict_at(sample_verdict("b", "")),
                              verdict_at(sample_verdict("c", "step-1", "other"))}));
  LedgerReader reads = reader();
  const std::vector<std::string> nonces = {"nonce-a", "nonce-b", "nonce-c", "nonce", "", "nonce-a"};
  CHECK(reads.nonces_seen("a", nonces).value() == Set{"nonce-a"});
  CHECK(reads.nonces_seen("other", nonces).value() == Set{"nonce-c"});
  CHECK(reads.nonces_seen("a", {}).value().empty());
}

TEST_CASE_METHOD(LedgerDirectory, "a verdict and its event are written together or not at all") {
  LedgerWriter writer = open();
  edit("CREATE TRIGGER refuse BEFORE INSERT ON verdicts BEGIN SELECT RAISE(ABORT, 'no'); END");
  REQUIRE_FALSE(writer.apply(std::array{verdict_at(sample_verdict("a"))}));
  CHECK(ask("SELECT count(*) FROM events") == 0);
}

TEST_CASE("every edit of a verdict is found") {
  const LedgerDirectory whole;
  REQUIRE(whole.open().apply(std::array{verdict_at(sample_verdict("a")),
                                        verdict_at(sample_verdict("b")),
                                        verdict_at(sample_verdict("c"))}));
  REQUIRE_FALSE(whole.verify().edit);
  REQUIRE(whole.verify().rows == 3);
  const std::string edited = "the row of verdict 2 has been edited since event 2 wrote it";
  const std::string missing = "the row of verdict 2, that event 2 wrote, is missing";
  const std::string stranger = "1 rows are there that no event wrote";
  for (const auto& [sql, found] : std::vector<std::pair<std::string, std::string>>{
           {"UPDATE verdicts SET tenant = 'x' WHERE item = 'b'", edited},
           {"UPDATE verdicts SET request_id = 'x' WHERE item = 'b'", edited},
           {"UPDATE verdicts SET item = 'x' WHERE item = 'b'", edited},
           {"UPDATE verdicts SET nonce = '' WHERE item = 'b'", edited},
           {"UPDATE verdicts SET answer = '{}' WHERE item = 'b'", edited},
           {"UPDATE verdicts SET event_seq = 9 WHERE item = 'b'", missing},
           {"DELETE FROM verdicts WHERE item = 'b'", missing},
           {"INSERT INTO verdicts SELECT 9, tenant, request_id, item, nonce, answer FROM verdicts "
            "WHERE item = 'b'",
            stranger},
           {"DELETE FROM events WHERE seq = 3", stranger},
           {"DROP INDEX verdicts_by_nonce", "index verdicts_by_nonce is missing"},
           {back_to_version_1, "the row of verdict 1, that event 1 wrote, is missing"}}) {
    const LedgerDirectory directory;
    std::filesystem::copy_file(whole.path(), directory.path());
    directory.edit(sql);
    INFO(sql);
    const Verification after = directory.verify();
    REQUIRE(after.edit);
    CHECK_THAT(after.edit->what, Catch::Contains(found));
  }
}

TEST_CASE_METHOD(LedgerDirectory, "a verdict goes with its event, and its nonce is forgotten") {
  LedgerWriter writer = open();
  REQUIRE(writer.apply(
      std::array{verdict_at(sample_verdict("a"), 1000), verdict_at(sample_verdict("b"), 10'000)}));
  REQUIRE(writer.prune({.keep = 1h, .keep_bytes = 1ull << 40},
                       std::chrono::system_clock::time_point(10'001s)) == 1u);
  CHECK_FALSE(verify().edit);
  CHECK(ask("SELECT count(*) FROM verdicts") == 1);
  LedgerReader reads = reader();
  CHECK(items(reads.verdicts_of("a", "step-1").value()) == Names{"b"});
  CHECK(reads.nonces_seen("a", Names{"nonce-a", "nonce-b"}).value() == Set{"nonce-b"});
}

TEST_CASE_METHOD(LedgerDirectory, "a ledger of version 1 is whole, and becomes one of version 2") {
  write_runs(20);
  const LedgerHead before = verify().head;
  edit(back_to_version_1);
  const Verification as_it_was = verify();
  CHECK_FALSE(as_it_was.edit);
  CHECK(as_it_was.rows == 22);
  CHECK(reader().run("r-7").value());
  {
    LedgerWriter writer = open();
    CHECK(writer.head() == before);
    REQUIRE(writer.apply(std::array{verdict_at(sample_verdict("a"))}) == before.seq + 1);
  }
  CHECK(ask("PRAGMA user_version") == 2);
  CHECK_FALSE(verify_ledger(path(), before).value().edit);
  CHECK(verify().rows == 23);
  CHECK(items(reader().verdicts_of("a", "step-1").value()) == Names{"a"});
  CHECK(reader().runs({}).value().size() == 20);
}

TEST_CASE_METHOD(LedgerDirectory, "ten thousand verdicts of one request are all found again") {
  LedgerWriter writer = open();
  for (std::size_t batch = 0; batch < 10; ++batch) {
    std::vector<Transition> transitions;
    for (std::size_t i = 0; i < 1000; ++i)
      transitions.push_back(verdict_at(sample_verdict(std::to_string(batch * 1000 + i))));
    REQUIRE(writer.apply(transitions));
  }
  LedgerReader reads = reader();
  const auto found = reads.verdicts_of("a", "step-1").value();
  REQUIRE(found.size() == verdicts_of_request_max);
  CHECK(found.front().item == "0");
  CHECK(found.back().item == "9999");
}
