#include "supervisor/runs/canary.hpp"

#include <fmt/format.h>

#include <utility>

namespace paddock::supervisor {
namespace {

Readiness not_ready(std::string reason) {
  return {.ready = false, .reason = std::move(reason), .profile = {}};
}

std::string late() {
  return fmt::format("canary: no outcome within {} s", canary_time_max.count() / 1000);
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

void Canary::ask(OnAnswer on_answer) {
  if (runs_.draining()) return on_answer(not_ready("draining"));
  if (const std::string problem = ledger_problem_(); !problem.empty())
    return on_answer(not_ready("ledger: " + problem));
  if (good_since_ && kernel::Clock::now() - *good_since_ < canary_fresh)
    return on_answer({.ready = true, .reason = {}, .profile = good_profile_});
  if (is_late_) return on_answer(not_ready(late()));
  waiting_.push_back(std::move(on_answer));
  if (running_.empty()) start();
}

void Canary::start() {
  auto run = make_run_();
  if (!run) return answer(not_ready("canary: " + run.error().message));
  run->is_canary = true;
  RunObserver observer;
  observer.on_refused = [this](const kernel::Error& error) {
    deadline_timer_.stop();
    running_.clear();
    is_late_ = false;
    answer(not_ready("canary: " + error.message));
  };
  observer.on_finished = [this](const RunRecord& canary) { finished(canary); };
  const auto submitted = runs_.submit(std::move(*run), std::move(observer));
  if (!submitted) return answer(not_ready("canary: " + submitted.error().message));
  running_ = *submitted;
  deadline_timer_.start(canary_time_max, [this] {
    is_late_ = true;
    answer(not_ready(late()));
    // Last: what waits in the queue is over before this returns.
    [[maybe_unused]] const auto stopped = runs_.stop(std::string(running_));
  });
}

void Canary::finished(const RunRecord& canary) {
  deadline_timer_.stop();
  running_.clear();
  const Readiness readiness = readiness_of(canary);
  // One that came too late has been answered for.
  if (!std::exchange(is_late_, false) && readiness.ready) {
    good_since_ = kernel::Clock::now();
    good_profile_ = canary.profile;
  }
  answer(readiness);
}

void Canary::answer(const Readiness& readiness) {
  for (const OnAnswer& on_answer : std::exchange(waiting_, {})) on_answer(readiness);
}

}  // namespace paddock::supervisor
