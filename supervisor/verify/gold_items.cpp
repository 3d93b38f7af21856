#include "supervisor/verify/gold_items.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "supervisor/verify/parse_items.hpp"
#include "supervisor/verify/verify_batch.hpp"

namespace paddock::supervisor {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view request_body = R"({"items": [
  {"id": "must pass", "code": "def f(x):\n    return x + 1\n", "tests":
    {"kind": "call", "entry_point": "f", "cases": [{"args": [1], "expected": 2}]}},
  {"id": "must fail", "code": "def f(x):\n    return x\n", "tests":
    {"kind": "call", "entry_point": "f", "cases": [{"args": [1], "expected": 2}]}}]})";

CanaryItems::Result wrong(std::string why) {
  return {.state = CanaryItems::State::wrong, .why = std::move(why)};
}

}  // namespace

kernel::Result<std::vector<ResolvedItem>> gold_items(const kernel::Profile& profile,
                                                     const VerifyWishes& wishes) {
  VerifyRequest request = TRY(parse_items(request_body));
  request.profile = profile.name;
  const Runtimes none;
  VerifyBatch batch = TRY(resolve_batch(
      std::move(request), {.tenant = {}, .profile = profile, .runtimes = none, .wishes = wishes}));
  std::vector<ResolvedItem> items;
  for (auto& each : batch.items) {
    if (const auto* const refused = std::get_if<RefusedItem>(&each))
      return kernel::fail(kernel::ErrorCode::internal, refused->why);
    items.push_back(std::move(std::get<ResolvedItem>(each)));
    items.back().is_canary = true;
  }
  return items;
}

CanaryItems::Result gold_result(const Judgement& judgement, bool must_pass) {
  const char* const which = must_pass ? "the item that must pass" : "the item that must fail";
  if (judgement.fault) {
    // Its own program is the only one that an item needs of the host.
    if (judgement.fault->cause == name_of(kernel::Cause::cannot_execute))
      return {.state = CanaryItems::State::unsupported, .why = judgement.fault->detail};
    return wrong(
        fmt::format("{} is {}: {}", which, judgement.fault->cause, judgement.fault->detail));
  }
  const auto& cases = judgement.cases;
  const auto failed =
      std::find_if(cases.begin(), cases.end(), [](const CaseAnswer& each) { return !each.passed; });
  const std::string cause = failed == cases.end() ? "passed" : failed->cause;
  if (cases.size() == 1 && cause == (must_pass ? "passed" : "wrong_answer")) return {};
  return wrong(fmt::format("{} is '{}' in {} cases", which, cause, cases.size()));
}

void GoldItems::judge(const std::string& profile, OnJudged on_judged) {
  on_judged_ = std::move(on_judged);
  next_ = 0;
  auto items = make_items_(profile);
  if (!items) return over(wrong(items.error().message));
  items_ = std::move(*items);
  judge_next();
}

void GoldItems::stop(const std::string& reason) {
  if (judging_ && on_judged_) judging_->stop(reason);
}

void GoldItems::judge_next() {
  judging_ = make_judging(loop_, runs_, std::move(items_[next_]),
                          [this](JudgedItem item) { judged(item.judgement); });
  judging_->start();
}

// The next one on a turn of its own: the one before it is taken away there.
void GoldItems::judged(const Judgement& judgement) {
  const Result result = gold_result(judgement, next_ == 0);
  ++next_;
  if (result.state != State::right || next_ == items_.size()) return over(result);
  timer_.start(milliseconds(0), [this] { judge_next(); });
}

void GoldItems::over(Result result) {
  timer_.start(milliseconds(0), [this, result = std::move(result)] {
    judging_.reset();
    if (const auto on_judged = std::exchange(on_judged_, nullptr)) on_judged(result);
  });
}

}  // namespace paddock::supervisor
