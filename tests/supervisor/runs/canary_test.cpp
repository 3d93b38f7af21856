#include "supervisor/runs/canary.hpp"

#include "supervisor/runs/table_fixture.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using std::chrono::milliseconds;
using std::chrono::seconds;
using tests::TableFixture;

namespace {

// Judges by the word of the test.
struct TestItems final : CanaryItems {
  explicit TestItems(uv_loop_t* loop) : timer(loop) {}
  void judge(const std::string& profile, OnJudged on_judged) override {
    ++judged;
    profiles.push_back(profile);
    waiting = std::move(on_judged);
    if (!hangs) timer.start(milliseconds(1), [this] { waiting(result); });
  }
  void stop(const std::string&) override {
    ++stopped;
    timer.start(milliseconds(1), [this] { waiting({.state = State::wrong, .why = "stopped"}); });
  }

  Timer timer;
  OnJudged waiting;
  Result result;
  bool hangs = false;
  int judged = 0;
  int stopped = 0;
  std::vector<std::string> profiles;
};

struct CanaryFixture : TableFixture {
  Readiness ask() {
    std::optional<Readiness> answer;
    canary.ask([&](const Readiness& readiness) { answer = readiness; });
    run_until([&] { return answer.has_value(); });
    return *answer;
  }

  int made = 0;
  std::string script = "true";
  std::string ledger_problem;
  Canary canary{loop->get(), *table, [this] { return ledger_problem; },
                [this]() -> kernel::Result<ResolvedRun> {
                  ++made;
                  if (script.empty())
                    return kernel::fail(kernel::ErrorCode::sandbox_not_available, "no profile");
                  return shell(script);
                }};

  TestItems items{loop->get()};
  Canary judging{loop->get(), *table, [] { return std::string(); },
                 [this]() -> kernel::Result<ResolvedRun> { return shell(script); }, &items};
  Readiness ask_judging() {
    std::optional<Readiness> answer;
    judging.ask([&](const Readiness& readiness) { answer = readiness; });
    run_until([&] { return answer.has_value(); });
    return *answer;
  }
};

}  // namespace

TEST_CASE_METHOD(CanaryFixture, "a canary that ran makes ready, and serves for a while") {
  CHECK(ask().ready);
  CHECK(ask().ready);
  CHECK(made == 1);
}

TEST_CASE_METHOD(CanaryFixture, "there is one canary at a time, and everybody gets its answer") {
  int answers = 0;
  for (int i = 0; i < 5; ++i) canary.ask([&](const Readiness& answer) { answers += answer.ready; });
  CHECK(answers == 0);
  run_until([&] { return answers == 5; });
  CHECK(made == 1);
}

TEST_CASE_METHOD(CanaryFixture,
                 "a canary that fails is the reason, and the next one is tried anew") {
  script = "exit 3";
  const Readiness failed = ask();
  CHECK_FALSE(failed.ready);
  CHECK(failed.reason == "canary under custom: exited with 3");
  script = "";
  CHECK(ask().reason == "canary: no profile");
  script = "true";
  CHECK(ask().ready);
  CHECK(made == 3);
}

TEST_CASE_METHOD(CanaryFixture,
                 "without a ledger the daemon is not ready, and no canary is tried") {
  ledger_problem = "No space left on device";
  CHECK(ask().reason == "ledger: No space left on device");
  CHECK(made == 0);
}

TEST_CASE_METHOD(CanaryFixture, "canaries are in no list and take no finished run's place") {
  remake({.finished_max = 1});
  Canary other(
      loop->get(), *table, [] { return std::string(); },
      [&]() -> kernel::Result<ResolvedRun> { return shell("exit 1"); });
  const RunId kept = submit("echo kept").value();
  run_until_finished(kept);
  for (int i = 0; i < 3; ++i) {
    bool answered = false;
    other.ask([&](const Readiness&) { answered = true; });
    CHECK(table->list().size() == 1);
    run_until([&] { return answered; });
  }
  REQUIRE(table->find(kept) != nullptr);
  CHECK(table->find(kept)->result->stdout == "kept\n");
}

TEST_CASE_METHOD(CanaryFixture, "a daemon that drains is not ready, also with a fresh canary") {
  CHECK(ask().ready);
  table->drain(seconds(1), DrainUntil::cancelled, {});
  CHECK(ask().reason == "draining");
  CHECK(table->undrain());
  CHECK(ask().ready);
}

TEST_CASE_METHOD(CanaryFixture,
                 "a canary that is stuck behind others is given up at its deadline") {
  remake({.alive_max = 1});
  Canary stuck(
      loop->get(), *table, [] { return std::string(); },
      [&]() -> kernel::Result<ResolvedRun> { return shell("true"); });
  const RunId hog = submit("sleep 60").value();
  run_until([&] { return table->alive() == 1; });
  const auto begin = kernel::Clock::now();
  std::optional<Readiness> answer;
  stuck.ask([&](const Readiness& readiness) { answer = readiness; });
  run_until([&] { return answer.has_value(); });
  CHECK(answer->reason == "canary: no outcome within 10 s");
  CHECK(kernel::Clock::now() - begin >= milliseconds(9'900));
  CHECK(kernel::Clock::now() - begin < seconds(12));
  CHECK(table->queued() == 0);
  REQUIRE(table->stop(hog));
  run_until_finished(hog);
  answer.reset();
  stuck.ask([&](const Readiness& readiness) { answer = readiness; });
  run_until([&] { return answer.has_value(); });
  CHECK(answer->ready);
}

TEST_CASE_METHOD(CanaryFixture, "items that are judged right make ready, and serve for as long") {
  CHECK(ask_judging() ==
        Readiness{.ready = true, .reason = {}, .profile = "custom", .verify = "ok"});
  CHECK(ask_judging().verify == "ok");
  CHECK(items.judged == 1);
  CHECK(items.profiles == std::vector<std::string>{"custom"});
}

TEST_CASE_METHOD(CanaryFixture,
                 "an item that is judged wrong is the reason, and is not remembered") {
  items.result = {.state = CanaryItems::State::wrong, .why = "the item that must fail is 'passed'"};
  const Readiness wrong = ask_judging();
  CHECK_FALSE(wrong.ready);
  CHECK(wrong.verify == "wrong");
  CHECK(wrong.reason == "verify under custom: the item that must fail is 'passed'");
  items.result = {};
  CHECK(ask_judging().ready);
  CHECK(items.judged == 2);
}

TEST_CASE_METHOD(CanaryFixture, "a host that cannot judge is ready, and says why it cannot") {
  items.result = {.state = CanaryItems::State::unsupported, .why = "no python3"};
  for (int i = 0; i < 2; ++i)
    CHECK(ask_judging() == Readiness{.ready = true,
                                     .reason = {},
                                     .profile = "custom",
                                     .verify = "unsupported",
                                     .verify_reason = "no python3"});
  CHECK(items.judged == 1);
}

TEST_CASE_METHOD(CanaryFixture, "nothing is judged after a canary that failed") {
  script = "exit 3";
  CHECK(ask_judging().verify.empty());
  CHECK(items.judged == 0);
}

TEST_CASE_METHOD(CanaryFixture, "items that take too long are given up at the canary's deadline") {
  items.hangs = true;
  const auto begin = kernel::Clock::now();
  CHECK(ask_judging().reason == "verify: no verdict within 10 s");
  CHECK(kernel::Clock::now() - begin >= milliseconds(9'900));
  CHECK(kernel::Clock::now() - begin < seconds(12));
  CHECK(items.stopped == 1);
  items.hangs = false;
  run_for(milliseconds(50));
  CHECK(ask_judging().ready);
  CHECK(items.judged == 2);
}
