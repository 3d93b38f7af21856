#include "supervisor/verify/stdio_item.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace paddock::supervisor {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds trial_time_max{10'000};

Judgement faulty(std::string cause, std::string detail) {
  return {.fault = Fault{.cause = std::move(cause), .detail = std::move(detail)}, .cases = {}};
}

CaseAnswer not_reached() {
  CaseAnswer answer;
  answer.cause = "not_reached";
  return answer;
}

}  // namespace

StdioItem::StdioItem(uv_loop_t* loop, RunTable& runs, ResolvedItem item, OnOver on_over)
    : loop_(loop),
      runs_(runs),
      item_(std::move(item)),
      on_over_(std::move(on_over)),
      step_timer_(loop) {}

void StdioItem::start() {
  files_[item_.runtime->source] = std::move(item_.item.code);
  if (item_.runtime->compile) {
    start_compiler(*item_.runtime->compile);
  } else {
    start_case();
  }
}

void StdioItem::start_compiler(const CompileStep& step) {
  ResolvedRun run;
  run.policy = *item_.judge_policy;  // the profile's own limits: the item's are for its program
  if (step.wall_clock)
    run.policy.wall_clock =
        std::min(run.policy.wall_clock.value_or(*step.wall_clock), *step.wall_clock);
  if (const auto ready = prepare_step(step.command, files_, {step.artifact}, run); !ready)
    return over_soon({.fault = fault_of(ready.error()), .cases = {}});
  compiler_channel_ = run.channel;
  start_run(std::move(run), [this] { compiled(); });
}

void StdioItem::compiled() {
  const CompileStep& step = *item_.runtime->compile;
  const auto channel = std::exchange(compiler_channel_, nullptr);
  if (run_->fault()) return over({.fault = run_->fault(), .cases = {}});
  const EndedRun end = *run_->end();
  Files made;
  if (end.cause == kernel::Cause::exited && end.exit_code == 0)
    made = collect_files(*channel, {step.artifact});
  if (made.empty())
    return unless_trial_fails(step.command, "the compiler's run",
                              [this, end] { over(judgement_of_compiler(end, cases().size())); });
  files_.merge(made);
  step_timer_.start(milliseconds(0), [this] { start_case(); });
}

// On a turn of its own: the run before it is taken away here.
void StdioItem::start_case() {
  if (!stop_reason_.empty()) return over(faulty("killed_by_request", stop_reason_));
  const StdioCase& next = cases()[answers_.size()];
  ResolvedRun run;
  run.policy = *item_.candidate_policy;
  run.stdin_bytes = next.stdin_bytes;
  run.warm = item_.candidate_warm;
  if (const auto ready = prepare_step(item_.runtime->run, files_, {}, run); !ready)
    return over_soon({.fault = fault_of(ready.error()), .cases = {}});
  start_run(std::move(run), [this] { case_over(); });
}

void StdioItem::case_over() {
  if (!run_->cold_because().empty() && cold_count_++ == 0) cold_because_ = run_->cold_because();
  if (run_->fault()) return over({.fault = run_->fault(), .cases = {}});
  StdioVerdict verdict = stdio_verdict(*run_->result(), cases()[answers_.size()]);
  if (verdict.fault) return over({.fault = std::move(verdict.fault), .cases = {}});
  if (is_tried_) return add_case(std::move(verdict.answer));
  unless_trial_fails(item_.runtime->run, "the candidate's run",
                     [this, answer = std::move(verdict.answer)] { add_case(answer); });
}

void StdioItem::add_case(CaseAnswer answer) {
  const bool passed = answer.passed;
  answers_.push_back(std::move(answer));
  if (!passed && item_.stop == Stop::first_fail) answers_.resize(cases().size(), not_reached());
  if (answers_.size() == cases().size())
    return over({.fault = std::nullopt, .cases = std::move(answers_)});
  step_timer_.start(milliseconds(0), [this] { start_case(); });
}

// Goes on with `then`, at once or later, if the run that is over has not ended for want of
// something of the host.
void StdioItem::unless_trial_fails(const std::vector<std::string>& command, const char* whose,
                                   std::function<void()> then) {
  if (!wants_trial(*run_->end(), is_of_host(command.front()))) return then();
  step_timer_.start(milliseconds(0), [this, command, whose, then = std::move(then)] {
    start_trial(command, whose, then);
  });
}

void StdioItem::start_trial(const std::vector<std::string>& command, const char* whose,
                            std::function<void()> then) {
  if (!stop_reason_.empty()) return over(faulty("killed_by_request", stop_reason_));
  // A command that is a shell's may want what the version command names.
  std::vector<std::string> programs;
  if (is_of_host(command.front())) programs.push_back(command.front());
  const std::vector<std::string>& version = item_.runtime->version;
  if (!version.empty() && version.front() != command.front()) programs.push_back(version.front());
  ResolvedRun run;
  run.policy = *item_.judge_policy;
  run.policy.wall_clock = std::min(run.policy.wall_clock.value_or(trial_time_max), trial_time_max);
  run.tenant = item_.tenant;
  run.is_canary = item_.is_canary;
  run.parent = run_->id();
  if (const auto ready = prepare_trial(programs, files_, run); !ready)
    return over_soon({.fault = fault_of(ready.error()), .cases = {}});
  trial_ = std::make_unique<ItemRun>(loop_, runs_);
  trial_->start(std::move(run), {}, [this, whose, then = std::move(then)] {
    if (!trial_->id().empty()) ids_.push_back(trial_->id());
    if (trial_->fault()) return over({.fault = trial_->fault(), .cases = {}});
    if (auto fault = fault_of_trial(whose, *trial_->result()))
      return over({.fault = std::move(fault), .cases = {}});
    is_tried_ = true;
    then();
  });
}

void StdioItem::start_run(ResolvedRun run, std::function<void()> then) {
  run.tenant = item_.tenant;
  run.is_canary = item_.is_canary;
  run_ = std::make_unique<ItemRun>(loop_, runs_);
  run_->start(
      std::move(run),
      [this] {
        if (!slot_at_) slot_at_ = kernel::Clock::now();
      },
      [this, then = std::move(then)] {
        if (!run_->id().empty()) ids_.push_back(run_->id());
        then();
      });
}

void StdioItem::stop(const std::string& reason) {
  stop_reason_ = reason;
  if (run_) run_->stop(reason);
  if (trial_) trial_->stop(reason);
}

std::string StdioItem::cold_because() const {
  if (cold_count_ == 0) return {};
  const std::size_t count = cases().size();
  if (cold_count_ == count) return "candidate: " + cold_because_;
  return fmt::format("candidate, {} of {} cases: {}", cold_count_, count, cold_because_);
}

void StdioItem::over_soon(Judgement judgement) {
  step_timer_.start(milliseconds(0), [this, judgement = std::move(judgement)] { over(judgement); });
}

void StdioItem::over(Judgement judgement) {
  JudgedItem judged{
      .judgement = std::move(judgement), .degraded = {}, .stdout_tail = {}, .stderr_tail = {}};
  if (run_) {
    judged.degraded = run_->degraded();
    judged.stdout_tail = run_->stdout_tail();
    judged.stderr_tail = run_->stderr_tail();
    judged.cold_because = cold_because();
  }
  on_over_(std::move(judged));
}

}  // namespace paddock::supervisor
