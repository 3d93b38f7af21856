#include "supervisor/verify/gold_items.hpp"

#include "supervisor/verify/verifier_fixture.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using namespace paddock::tests;
using State = CanaryItems::State;

namespace {

Judgement one_case(const std::string& cause) {
  CaseAnswer answer;
  answer.passed = cause == "passed";
  answer.cause = cause;
  return {.fault = std::nullopt, .cases = {answer}};
}

struct GoldFixture : TableFixture {
  kernel::Result<std::vector<ResolvedItem>> make() const {
    kernel::Profile profile;
    profile.name = "STRICT";
    auto items = gold_items(profile);
    if (items && is_swapped) std::swap(items->at(0), items->at(1));
    for (ResolvedItem& item : *items) {
      auto policy = *item.candidate_policy;
      if (!path.empty()) policy.environment["PATH"] = path;
      item.candidate_policy = std::make_shared<const kernel::SandboxPolicy>(policy);
    }
    return items;
  }
  CanaryItems::Result judge() {
    std::optional<CanaryItems::Result> result;
    gold.judge("STRICT", [&](const CanaryItems::Result& judged) { result = judged; });
    CHECK_FALSE(result);
    run_until([&] { return result.has_value(); });
    return *result;
  }

  bool is_swapped = false;
  std::string path;
  GoldItems gold{loop->get(), *table, [this](const std::string&) { return make(); }};
};

}  // namespace

TEST_CASE("only the right verdict for the right reason will do") {
  CHECK(gold_result(one_case("passed"), true).state == State::right);
  CHECK(gold_result(one_case("wrong_answer"), false).state == State::right);
  CHECK(gold_result(one_case("wrong_answer"), true).why ==
        "the item that must pass is 'wrong_answer' in 1 cases");
  CHECK(gold_result(one_case("passed"), false).why ==
        "the item that must fail is 'passed' in 1 cases");
  CHECK(gold_result(one_case("exited"), false).state == State::wrong);
  CHECK(gold_result({.fault = std::nullopt, .cases = {}}, true).state == State::wrong);
  const Judgement broken{.fault = Fault{.cause = "judge_failed", .detail = "signal 9"},
                         .cases = {}};
  CHECK(gold_result(broken, false).why == "the item that must fail is judge_failed: signal 9");
  const Judgement lacking{.fault = Fault{.cause = "cannot_execute", .detail = "no python3"},
                          .cases = {}};
  CHECK(gold_result(lacking, true) == CanaryItems::Result{State::unsupported, "no python3"});
}

TEST_CASE_METHOD(GoldFixture, "the gold items are judged right, and are nobody's") {
  CHECK(judge().state == State::right);
  CHECK(judge().state == State::right);
  CHECK(table->list().empty());
  for (const Transition& transition : recorder.committed) {
    CHECK_FALSE(transition.verdict);
    CHECK(transition.event.kind.starts_with("run."));
    if (transition.event.kind == "run.starting") CHECK(transition.run->parent == "canary");
  }
}

TEST_CASE_METHOD(GoldFixture, "a judge that takes wrong for right is noticed") {
  is_swapped = true;
  CHECK(judge().why == "the item that must pass is 'wrong_answer' in 1 cases");
}

TEST_CASE_METHOD(GoldFixture, "without an interpreter for the items verify is unsupported") {
  path = "/nonexistent";
  const auto result = judge();
  CHECK(result.state == State::unsupported);
  CHECK(result.why.find("python3") != std::string::npos);
}

TEST_CASE_METHOD(GoldFixture, "gold items that are stopped are over soon") {
  std::optional<CanaryItems::Result> result;
  gold.judge("STRICT", [&](const CanaryItems::Result& judged) { result = judged; });
  run_until([&] { return table->alive() > 0; });
  gold.stop("the deadline has passed");
  run_until([&] { return result.has_value(); });
  CHECK(result->state == State::wrong);
  CHECK(result->why.find("killed_by_request") != std::string::npos);
}
