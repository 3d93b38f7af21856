// The ledger as the loop uses it.

#include "supervisor/ledger/ledger.hpp"

#include <future>
#include <thread>

#include "ledger_fixture.hpp"

using namespace paddock::supervisor;
using namespace paddock::tests;
using paddock::kernel::ErrorCode;
using paddock::kernel::Result;

TEST_CASE_METHOD(LedgerDirectory, "what comes while a commit is under way shares the next one") {
  const RunningLedger running(*this);
  std::vector<std::uint64_t> growths;
  running.ledger->on_growth([&](std::uint64_t head) { growths.push_back(head); });
  std::vector<std::uint64_t> answers;
  const auto commit = [&](int number) {
    running.ledger->commit(sample_transition(number, "starting"), IfUnwritten::refuse,
                           [&](Result<std::uint64_t> seq) { answers.push_back(seq.value_or(0)); });
  };
  commit(1);
  uv_run(running.loop->get(), UV_RUN_NOWAIT);
  for (int i = 2; i <= 300; ++i) commit(i);
  for (int i = 301; i <= 500; ++i) commit(i);
  running.wait_until([&] { return answers.size() == 500; });
  CHECK(growths == std::vector<std::uint64_t>{1, 500});
  for (std::size_t i = 0; i < answers.size(); ++i) CHECK(answers[i] == i + 1);
  CHECK(running.ledger->head() == 500);
  CHECK(running.ledger->unwritten() == 0);
  CHECK_FALSE(verify().edit);
}

TEST_CASE_METHOD(LedgerDirectory, "what one turn of the loop brings is one commit") {
  const RunningLedger running(*this);
  running.ledger->commit(sample_transition(1, "starting"), IfUnwritten::refuse, {});
  running.loop->run();  // until it has also looked for what is old
  std::vector<std::uint64_t> growths;
  running.ledger->on_growth([&](std::uint64_t head) { growths.push_back(head); });
  Timer first(running.loop->get());
  Timer second(running.loop->get());
  int answers = 0;
  const auto commit = [&](int number) {
    running.ledger->commit(sample_transition(number, "starting"), IfUnwritten::refuse,
                           [&](const Result<std::uint64_t>&) {
                             if (++answers == 1) CHECK(running.ledger->unwritten() == 0);
                           });
  };
  first.start(std::chrono::milliseconds(0), [&] { commit(2); });
  second.start(std::chrono::milliseconds(0), [&] { commit(3); });
  running.wait_until([&] { return answers == 2; });
  CHECK(growths == std::vector<std::uint64_t>{3});
}

TEST_CASE_METHOD(LedgerDirectory, "an answer comes when its transition can be read") {
  const RunningLedger running(*this);
  bool was_there = false;
  bool is_done = false;
  running.ledger->commit(sample_transition(1, "starting"), IfUnwritten::refuse,
                         [&](const Result<std::uint64_t>&) {
                           was_there = ask("SELECT count(*) FROM events") == 1;
                           is_done = true;
                         });
  running.wait_until([&] { return is_done; });
  CHECK(was_there);
}

TEST_CASE_METHOD(LedgerDirectory, "an answer may commit the next transition") {
  const RunningLedger running(*this);
  std::vector<std::uint64_t> seqs;
  std::function<void(Result<std::uint64_t>)> next = [&](const Result<std::uint64_t>& seq) {
    seqs.push_back(seq.value_or(0));
    if (seqs.size() < 5)
      running.ledger->commit(sample_transition(1, "running"), IfUnwritten::keep, next);
  };
  running.ledger->commit(sample_transition(1, "starting"), IfUnwritten::refuse, next);
  running.wait_until([&] { return seqs.size() == 5; });
  CHECK(seqs == std::vector<std::uint64_t>{1, 2, 3, 4, 5});
}

TEST_CASE_METHOD(LedgerDirectory, "a commit needs nobody who waits for it") {
  const RunningLedger running(*this);
  running.ledger->commit(sample_transition(1, "starting"), IfUnwritten::refuse, nullptr);
  running.wait_until([&] { return running.ledger->head() == 1; });
}

TEST_CASE_METHOD(LedgerDirectory, "a question is answered on the loop, from the reading thread") {
  write_runs(3);
  const RunningLedger running(*this);
  const auto loop_thread = std::this_thread::get_id();
  std::thread::id reading_thread;
  std::optional<Result<std::vector<RunRow>>> answer;
  running.ledger->read<std::vector<RunRow>>(
      [&](LedgerReader& reader) {
        reading_thread = std::this_thread::get_id();
        return reader.runs({});
      },
      [&](Result<std::vector<RunRow>> runs) {
        CHECK(std::this_thread::get_id() == loop_thread);
        answer = std::move(runs);
      });
  CHECK_FALSE(answer);
  running.wait_until([&] { return answer.has_value(); });
  REQUIRE(*answer);
  CHECK((*answer)->size() == 3);
  CHECK(reading_thread != loop_thread);
}

TEST_CASE_METHOD(LedgerDirectory, "a slow question holds up no commit") {
  const RunningLedger running(*this);
  std::promise<void> go;
  bool is_answered = false;
  running.ledger->read<int>(
      [&](LedgerReader&) -> Result<int> {
        go.get_future().wait();
        return 1;
      },
      [&](const Result<int>&) { is_answered = true; });
  bool is_committed = false;
  running.ledger->commit(sample_transition(1, "starting"), IfUnwritten::refuse,
                         [&](const Result<std::uint64_t>&) { is_committed = true; });
  running.wait_until([&] { return is_committed; });
  CHECK_FALSE(is_answered);
  go.set_value();
  running.wait_until([&] { return is_answered; });
}

TEST_CASE_METHOD(LedgerDirectory, "a ledger that ends writes what is to be kept and calls nobody") {
  RunningLedger running(*this);
  int answers = 0;
  for (int i = 1; i <= 50; ++i)
    running.ledger->commit(sample_transition(i, "finished"), IfUnwritten::keep,
                           [&](const Result<std::uint64_t>&) { ++answers; });
  running.ledger.reset();
  running.loop->run();
  CHECK(answers == 0);
  CHECK(reader().runs({}).value().size() == 50);
  CHECK_FALSE(verify().edit);
}

TEST_CASE_METHOD(LedgerDirectory, "a ledger that has ended refuses, and does not block") {
  const RunningLedger running(*this);
  REQUIRE(running.ledger->finish());
  std::optional<Result<std::uint64_t>> answer;
  running.ledger->commit(sample_transition(1, "finished"), IfUnwritten::keep,
                         [&](Result<std::uint64_t> seq) { answer = std::move(seq); });
  CHECK_FALSE(answer);
  running.wait_until([&] { return answer.has_value(); });
  REQUIRE_FALSE(*answer);
  CHECK(answer->error().code == ErrorCode::not_recorded);
  CHECK(reader().head().value().seq == 0);
}

TEST_CASE_METHOD(LedgerDirectory, "a ledger that runs keeps no idle loop going") {
  const RunningLedger running(*this);
  running.loop->run();  // returns
  CHECK(running.ledger->is_writing());
}

TEST_CASE_METHOD(LedgerDirectory, "a transition that cannot be written takes no other with it") {
  const RunningLedger running(*this);
  edit(
      "CREATE TRIGGER refuse BEFORE INSERT ON events WHEN new.subject = 'r-2' BEGIN "
      "SELECT RAISE(ABORT, 'refused'); END");
  std::vector<int> answered;
  const auto commit = [&](int number, IfUnwritten if_unwritten) {
    running.ledger->commit(sample_transition(number, "finished"), if_unwritten,
                           [&answered, number](const Result<std::uint64_t>& seq) {
                             answered.push_back(seq ? number : -number);
                           });
  };
  commit(1, IfUnwritten::keep);
  commit(2, IfUnwritten::refuse);
  commit(3, IfUnwritten::keep);
  running.wait_until([&] { return answered.size() == 3; });
  CHECK(answered == std::vector<int>{1, -2, 3});
  CHECK(running.ledger->is_writing());
}

TEST_CASE_METHOD(LedgerDirectory, "old events go in the background while new ones come") {
  write_runs(1500);  // in 1970
  LedgerLimits limits;
  limits.keep = std::chrono::hours(1);
  const RunningLedger running(*this, limits);
  running.wait_until([&] { return running.ledger->head() > 3000; });
  int answers = 0;
  Transition now = sample_transition(9999, "starting");
  now.event.at = std::chrono::system_clock::now();
  running.ledger->commit(now, IfUnwritten::refuse,
                         [&](const Result<std::uint64_t>&) { ++answers; });
  running.wait_until([&] { return answers == 1 && ask("SELECT count(*) FROM runs") == 1; });
  const Verification found = verify();
  CHECK_FALSE(found.edit);
  CHECK(found.anchor.seq >= 3000);
}

TEST_CASE_METHOD(LedgerDirectory, "what is kept stays in order, and holds up no refusal") {
  const RunningLedger running(*this);
  edit(
      "CREATE TRIGGER refuse BEFORE INSERT ON events WHEN new.subject = 'r-1' BEGIN "
      "SELECT RAISE(ABORT, 'refused'); END");
  std::vector<int> answered;
  const auto commit = [&](int number, IfUnwritten if_unwritten) {
    running.ledger->commit(sample_transition(number, "finished"), if_unwritten,
                           [&answered, number](const Result<std::uint64_t>& seq) {
                             answered.push_back(seq ? number : -number);
                           });
  };
  commit(1, IfUnwritten::keep);  // alone under way while the others come
  commit(2, IfUnwritten::keep);
  commit(3, IfUnwritten::refuse);
  running.wait_until([&] { return !running.ledger->is_writing(); });
  CHECK(answered == std::vector<int>{-3});  // not a second later
  CHECK(running.ledger->unwritten() == 2);
  CHECK_THAT(running.ledger->problem(), Catch::Contains("refused"));
  edit("DROP TRIGGER refuse");
  running.wait_until([&] { return running.ledger->is_writing(); });
  CHECK(answered == std::vector<int>{-3, 1, 2});
}
