// A disk that is really full: a small file system of its own, or a limit on the size of files.

#include "ledger_fixture.hpp"
#include "small_disk.hpp"
#include "support/host_support.hpp"

using namespace paddock::supervisor;
using namespace paddock::tests;
using paddock::kernel::ErrorCode;
using paddock::kernel::Result;

namespace {

using SeqResult = std::optional<Result<std::uint64_t>>;

// What a commit came to, once it did.
struct Commits {
  explicit Commits(Ledger& written) : ledger(written) {}

  std::shared_ptr<SeqResult> operator()(int number, const std::string& state,
                                        IfUnwritten if_unwritten) {
    auto result = std::make_shared<SeqResult>();
    ledger.commit(sample_transition(number, state), if_unwritten,
                  [this, number, result](Result<std::uint64_t> seq) {
                    *result = std::move(seq);
                    answered.push_back(number);
                  });
    return result;
  }

  Ledger& ledger;
  std::vector<int> answered;
};

bool is_refused(const SeqResult& result, const std::string& why) {
  return result && !*result && result->error().code == ErrorCode::not_recorded &&
         result->error().message.find(why) != std::string::npos;
}

}  // namespace

TEST_CASE_METHOD(LedgerDirectory, "on a full disk new runs are refused and outcomes are recorded") {
  NEEDS(SmallDisk::is_possible(), needs_root);
  const SmallDisk disk(directory());
  const RunningLedger running(*this);
  Commits commit(*running.ledger);
  const auto started = commit(1, "starting", IfUnwritten::refuse);
  running.wait_until([&] { return started->has_value(); });
  REQUIRE(**started);
  disk.fill();

  const auto refused = commit(2, "starting", IfUnwritten::refuse);
  running.wait_until([&] { return refused->has_value(); });
  CHECK(is_refused(*refused, "ledger '" + path() + "': the disk is full"));
  CHECK(std::filesystem::exists(reserve()));
  CHECK(running.ledger->is_writing());

  // The reserve makes room for what has happened, and for nothing new.
  const auto finished = commit(1, "finished", IfUnwritten::keep);
  running.wait_until([&] { return finished->has_value(); });
  CHECK(**finished == 2u);
  CHECK_FALSE(std::filesystem::exists(reserve()));
  CHECK_FALSE(running.ledger->is_writing());
  CHECK_THAT(running.ledger->problem(), Catch::Contains(reserve()));
  const auto also_refused = commit(3, "starting", IfUnwritten::refuse);
  CHECK_FALSE(also_refused->has_value());  // never from within the call
  running.wait_until([&] { return also_refused->has_value(); });
  CHECK(is_refused(*also_refused, reserve()));

  disk.make_room();
  running.wait_until([&] { return running.ledger->is_writing(); });
  CHECK(running.ledger->problem().empty());
  CHECK(std::filesystem::file_size(reserve()) == 8u << 20);
  const auto accepted = commit(4, "starting", IfUnwritten::refuse);
  running.wait_until([&] { return accepted->has_value(); });
  CHECK(**accepted == 3u);
  CHECK_FALSE(verify().edit);
  CHECK(reader().runs({}).value().size() == 2);
}

TEST_CASE_METHOD(LedgerDirectory,
                 "without any room outcomes are kept, and written in order when there is some") {
  NEEDS(SmallDisk::is_possible(), needs_root);
  const SmallDisk disk(directory());
  const RunningLedger running(*this);
  Commits commit(*running.ledger);
  disk.fill();
  const auto first = commit(1, "finished", IfUnwritten::keep);  // takes the reserve
  running.wait_until([&] { return first->has_value(); });
  disk.fill();
  const auto second = commit(2, "finished", IfUnwritten::keep);
  const auto third = commit(3, "finished", IfUnwritten::keep);
  const auto refused = commit(9, "starting", IfUnwritten::refuse);
  running.wait_until([&] { return refused->has_value(); });
  CHECK_FALSE(second->has_value());
  CHECK_FALSE(third->has_value());
  CHECK(running.ledger->unwritten() == 2);
  CHECK_FALSE(running.ledger->is_writing());

  disk.make_room();
  running.wait_until([&] { return running.ledger->is_writing(); });
  CHECK(**second == 2u);
  CHECK(**third == 3u);
  CHECK(commit.answered == std::vector<int>{1, 9, 2, 3});
  CHECK(running.ledger->unwritten() == 0);
  CHECK_FALSE(verify().edit);
}

TEST_CASE_METHOD(LedgerDirectory, "what is kept is still tried when the ledger ends") {
  NEEDS(SmallDisk::is_possible(), needs_root);
  const SmallDisk disk(directory());
  {
    RunningLedger running(*this);
    Commits commit(*running.ledger);
    disk.fill();
    const auto first = commit(1, "finished", IfUnwritten::keep);
    running.wait_until([&] { return first->has_value(); });
    disk.fill();
    commit(2, "finished", IfUnwritten::keep);
    SECTION("and written if there is room by then") {
      disk.make_room();
      CHECK(running.ledger->finish());
      CHECK(running.ledger->head() == 2);
    }
    SECTION("and counted as lost if there is none") {
      const auto lost = running.ledger->finish();
      REQUIRE_FALSE(lost);
      CHECK_THAT(lost.error().message, Catch::Contains("1 transitions are not recorded: ledger '" +
                                                       path() + "': the disk is full"));
      CHECK(running.ledger->head() == 1);
      disk.make_room();
    }
    running.ledger.reset();
  }
  CHECK_FALSE(verify().edit);
}

TEST_CASE_METHOD(LedgerDirectory,
                 "a ledger without room for its reserve takes nothing new before there is some") {
  NEEDS(SmallDisk::is_possible(), needs_root);
  const SmallDisk disk(directory());
  { open(); }
  disk.fill();
  std::filesystem::resize_file(reserve(), 4u << 20);  // what is missing has room elsewhere
  const RunningLedger running(*this);
  Commits commit(*running.ledger);
  CHECK_FALSE(std::filesystem::exists(reserve()));
  CHECK_FALSE(running.ledger->is_writing());
  CHECK_THAT(running.ledger->problem(), Catch::Contains(reserve()));
  CHECK(running.ledger->failure() == running.ledger->problem());
  const auto refused = commit(1, "starting", IfUnwritten::refuse);
  const auto outcome = commit(2, "finished", IfUnwritten::keep);
  running.wait_until([&] { return refused->has_value() && outcome->has_value(); });
  CHECK(is_refused(*refused, reserve()));
  CHECK(**outcome == 1u);

  disk.make_room();
  running.wait_until([&] { return running.ledger->is_writing(); });
  CHECK(running.ledger->failure().empty());
  CHECK(std::filesystem::exists(reserve()));
}

TEST_CASE_METHOD(LedgerDirectory, "it is told once when writing fails and once when it works") {
  NEEDS(SmallDisk::is_possible(), needs_root);
  const SmallDisk disk(directory());
  const RunningLedger running(*this);
  Commits commit(*running.ledger);
  std::vector<std::string> turns;
  running.ledger->on_turn([&] { turns.push_back(running.ledger->failure()); });
  disk.fill();
  // Nothing is kept here, so that the next one is tried: still the disk is full.
  for (int number = 1; number <= 3; ++number) {
    const auto refused = commit(number, "starting", IfUnwritten::refuse);
    running.wait_until([&] { return refused->has_value(); });
    CHECK(is_refused(*refused, "the disk is full"));
  }
  CHECK(running.ledger->is_writing());
  CHECK(running.ledger->failure() == "ledger '" + path() + "': the disk is full");
  const auto outcome = commit(4, "finished", IfUnwritten::keep);
  running.wait_until([&] { return outcome->has_value(); });
  CHECK_FALSE(running.ledger->failure().empty());
  CHECK(turns.size() == 1);

  disk.make_room();
  running.wait_until([&] { return running.ledger->is_writing(); });
  REQUIRE(turns.size() == 2);
  CHECK(turns[1].empty());
}

TEST_CASE_METHOD(LedgerDirectory, "a quota or a limit on file sizes counts as a full disk") {
  LedgerWriter writer = open();
  REQUIRE(writer.apply(std::array{sample_transition(1, "starting")}));
  {
    const FileSizeLimit limit(std::filesystem::file_size(path() + "-wal"));
    const auto failed = writer.apply(std::array{sample_transition(1, "finished")});
    REQUIRE_FALSE(failed);
    CHECK(failed.error().message == "ledger '" + path() + "': the disk is full");
    CHECK(writer.is_full());
  }
  CHECK(writer.apply(std::array{sample_transition(1, "finished")}) == 2u);
  CHECK_FALSE(writer.is_full());
  CHECK_FALSE(verify().edit);
}
