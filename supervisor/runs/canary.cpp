#include "supervisor/runs/canary.hpp"

#include <fmt/format.h>

#include <utility>

namespace paddock::supervisor {
namespace {

Readiness not_ready(std::string reason) {
  return {.ready = false, .reason = std::move(reason), .profile = {}};
}

}  // namespace

Readiness readiness_of(const RunRecord& canary) {
  const kernel::SandboxResult& result = *canary.result;
  Readiness readiness{.ready = false, .reason = {}, .profile = canary.profile};
  if (!canary.recorded) {
    readiness.reason = "ledger: the canary's outcome could not be written in time";
    return readiness;
  }
  readiness.ready = result.cause == kernel::Cause::exited && result.exit_code == 0;
  if (readiness.ready) return readiness;
  readiness.reason = fmt::format("canary under {}: {}", canary.profile, name_of(result.cause));
  if (result.cause == kernel::Cause::exited)
    readiness.reason += fmt::format(" with {}", result.exit_code);
  if (!result.detail.empty()) readiness.reason += ": " + result.detail;
  return readiness;
}

Readiness with_items(Readiness readiness, const CanaryItems::Result& items) {
  switch (items.state) {
    case CanaryItems::State::right:
      readiness.verify = "ok";
      break;
    case CanaryItems::State::unsupported:
      readiness.verify = "unsupported";
      readiness.verify_reason = items.why;
      break;
    case CanaryItems::State::wrong:
      readiness.ready = false;
      readiness.verify = "wrong";
      readiness.reason = fmt::format("verify under {}: {}", readiness.profile, items.why);
      break;
  }
  return readiness;
}

void Canary::ask(OnAnswer on_answer) {
  if (runs_.draining()) return on_answer(not_ready("draining"));
  if (const std::string problem = ledger_problem_(); !problem.empty())
    return on_answer(not_ready("ledger: " + problem));
  if (good_since_ && kernel::Clock::now() - *good_since_ < canary_fresh) return on_answer(good_);
  if (!late_reason_.empty()) return on_answer(not_ready(late_reason_));
  waiting_.push_back(std::move(on_answer));
  if (!is_trying_) start();
}

void Canary::start() {
  auto run = make_run_();
  if (!run) return answer(not_ready("canary: " + run.error().message));
  run->is_canary = true;
  RunObserver observer;
  observer.on_refused = [this](const kernel::Error& error) {
    running_.clear();
    conclude(not_ready("canary: " + error.message));
  };
  observer.on_finished = [this](const RunRecord& canary) { finished(canary); };
  const auto submitted = runs_.submit(std::move(*run), std::move(observer));
  if (!submitted) return answer(not_ready("canary: " + submitted.error().message));
  is_trying_ = true;
  running_ = *submitted;
  deadline_timer_.start(canary_time_max, [this] { pass_deadline(); });
}

void Canary::pass_deadline() {
  const bool is_judging = running_.empty();
  late_reason_ =
      fmt::format("{} within {} s", is_judging ? "verify: no verdict" : "canary: no outcome",
                  canary_time_max.count() / 1000);
  answer(not_ready(late_reason_));
  // Last: what waits in the queue is over before this returns.
  if (is_judging) return items_->stop("the canary's deadline has passed");
  [[maybe_unused]] const auto stopped = runs_.stop(std::string(running_));
}

void Canary::finished(const RunRecord& canary) {
  running_.clear();
  const Readiness readiness = readiness_of(canary);
  if (!readiness.ready || !late_reason_.empty() || items_ == nullptr) return conclude(readiness);
  items_->judge(readiness.profile, [this, readiness](const CanaryItems::Result& items) {
    conclude(with_items(readiness, items));
  });
}

void Canary::conclude(const Readiness& readiness) {
  deadline_timer_.stop();
  is_trying_ = false;
  // One that came too late has been answered for.
  if (std::exchange(late_reason_, {}).empty() && readiness.ready) {
    good_since_ = kernel::Clock::now();
    good_ = readiness;
  }
  answer(readiness);
}

void Canary::answer(const Readiness& readiness) {
  for (const OnAnswer& on_answer : std::exchange(waiting_, {})) on_answer(readiness);
}

}  // namespace paddock::supervisor
