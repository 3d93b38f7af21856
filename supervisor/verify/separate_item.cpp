#include "supervisor/verify/separate_item.hpp"

#include <sys/socket.h>

#include <utility>

#include "supervisor/verify/commands.hpp"
#include "supervisor/verify/judge_job.hpp"
#include "supervisor/verify/judge_report.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Result;

// What the judge wrote, if it ended well and said all of it.
std::optional<Result<JudgeReport>> report_of(const ItemRun& judge) {
  const auto& result = judge.result();
  if (!result || result->cause != kernel::Cause::exited || result->stdout_truncated)
    return std::nullopt;
  return parse_judge_report(result->stdout);
}

bool has_unsteady_tests(const ItemRun& judge) {
  const auto report = report_of(judge);
  return report && *report && (*report)->unsteady;
}

}  // namespace

SeparateItem::SeparateItem(uv_loop_t* loop, RunTable& runs, ResolvedItem item, OnOver on_over)
    : loop_(loop),
      item_(std::move(item)),
      on_over_(std::move(on_over)),
      candidate_(loop, runs),
      judge_(loop, runs),
      over_timer_(loop) {}

ResolvedRun SeparateItem::candidate_run() {
  ResolvedRun run;
  run.policy = *item_.candidate_policy;
  run.argv = candidate_command().argv;
  run.recorded = candidate_command().recorded;
  run.tenant = item_.tenant;
  run.is_canary = item_.is_canary;
  run.stdin_bytes = std::move(item_.item.code);
  run.channel = std::move(candidates_end_);
  run.warm = item_.candidate_warm;
  return run;
}

ResolvedRun SeparateItem::judge_run() {
  ResolvedRun run;
  run.policy = *item_.judge_policy;
  run.policy.wall_clock =
      item_.candidate_policy->wall_clock.value_or(item_wall_clock_default) + judge_wall_margin;
  run.argv = judge_command().argv;
  run.recorded = judge_command().recorded;
  run.tenant = item_.tenant;
  run.is_canary = item_.is_canary;
  run.parent = candidate_.id();
  const auto& tests = std::get<JudgedTests>(item_.item.tests);
  run.stdin_bytes = so_far_ ? judge_job(tests, item_.stop, *so_far_) : judge_job(tests, item_.stop);
  run.channel = std::move(judges_end_);
  run.warm = item_.judge_warm;
  run.beside_slots = true;
  return run;
}

void SeparateItem::start() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    over_soon("socketpair: " + kernel::errno_text(errno));
    return;
  }
  candidates_end_ = std::make_shared<kernel::Fd>(ends[0]);
  judges_end_ = std::make_shared<kernel::Fd>(ends[1]);
  if (item_.known) {
    asker_ = std::make_unique<KnownAsker>(judges_end_, item_.known);
    if (const auto started = asker_->start(loop_, [this] { asker_over(); }); !started)
      return over_soon(started.error().message);
  }
  candidate_.start(
      candidate_run(), [this] { got_slot(); }, [this] { candidate_over(); },
      [this] { candidate_begun_at_ = kernel::Clock::now(); });
}

void SeparateItem::over_soon(std::string why) {
  over_timer_.start(std::chrono::milliseconds(0), [this, why = std::move(why)] {
    on_over_({.judgement = {.fault = Fault{.cause = "internal", .detail = why}, .cases = {}},
              .degraded = {},
              .stdout_tail = {},
              .stderr_tail = {}});
  });
}

// At once where the candidate need not wait, so that the starts of both are one commit. What keeps
// the candidate from its start then ends the judge.
void SeparateItem::got_slot() {
  slot_at_ = kernel::Clock::now();
  if (!asker_) start_judge();
}

void SeparateItem::asker_over() {
  const auto asker = std::exchange(asker_, nullptr);
  if (candidate_begun_at_) asked_before_ = kernel::Clock::now() - *candidate_begun_at_;
  if (asker->dialogue().state() == KnownDialogue::State::passed) {
    known_cases_ = asker->dialogue().cases();
    judges_end_.reset();
    candidate_.stop_after(candidate_grace, "nothing more is asked of it");
  } else {
    so_far_ = asker->dialogue().so_far();
    start_judge();
  }
}

void SeparateItem::start_judge() {
  if (is_stopped_ || candidate_.fault()) return;
  judge_.start(
      judge_run(), {}, [this] { judge_over(); }, [this] { judge_begun(); });
}

void SeparateItem::judge_begun() {
  has_judge_begun_ = true;
  check_grace();
}

// All that it has said is there to be read, and nothing more comes, whoever holds the other end.
void SeparateItem::candidate_over() {
  if (candidate_.fault()) stop_asking();
  if (asker_) asker_->finish();
  judges_end_.reset();
  if (candidate_.fault()) judge_.stop("it has no candidate");
  check_grace();
  check_over();
}

// A candidate may have ended before its judge could begin, and on a busy host long before. Until
// then it is the run's own bounds that hold for the judge.
void SeparateItem::check_grace() {
  if (candidate_.is_over() && has_judge_begun_)
    judge_.stop_after(judge_grace, "its candidate has ended, and it has not");
}

void SeparateItem::judge_over() {
  if (judge_.fault()) candidate_.stop("it has no judge");
  candidate_.stop_after(candidate_grace, "its judge has ended");
  check_over();
}

void SeparateItem::stop(const std::string& reason) {
  is_stopped_ = true;
  stop_asking();
  candidate_.stop(reason);
  judge_.stop(reason);
}

void SeparateItem::stop_asking() {
  if (asker_) asker_->stop();
  asker_.reset();
}

std::vector<RunId> SeparateItem::runs() const {
  std::vector<RunId> ids;
  for (const ItemRun* run : {&candidate_, &judge_})
    if (!run->id().empty()) ids.push_back(run->id());
  return ids;
}

Judgement SeparateItem::judgement() const {
  for (const ItemRun* run : {&candidate_, &judge_})
    if (run->fault()) return {.fault = run->fault(), .cases = {}};
  if (known_cases_) return judgement_by_known_answers(*candidate_.end(), *known_cases_);
  return judgement_of(candidate_.end(), judge_.end(), report_of(judge_), asked_before_);
}

std::string SeparateItem::cold_because() const {
  std::string text;
  if (!candidate_.cold_because().empty()) text = "candidate: " + candidate_.cold_because();
  if (!judge_.cold_because().empty())
    text += (text.empty() ? "judge: " : "; judge: ") + judge_.cold_because();
  return text;
}

void SeparateItem::check_over() {
  if (!candidate_.is_over() || (judge_.was_started() && !judge_.is_over())) return;
  on_over_({.judgement = judgement(),
            .degraded = candidate_.degraded(),
            .stdout_tail = candidate_.stdout_tail(),
            .stderr_tail = candidate_.stderr_tail(),
            .cold_because = cold_because(),
            .by_known_answers = known_cases_.has_value(),
            .tests_unsteady = so_far_ && has_unsteady_tests(judge_)});
}

}  // namespace paddock::supervisor
