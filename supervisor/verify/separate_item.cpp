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

}  // namespace

SeparateItem::SeparateItem(uv_loop_t* loop, RunTable& runs, ResolvedItem item, OnOver on_over)
    : item_(std::move(item)),
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
  run.stdin_bytes = judge_job(std::get<JudgedTests>(item_.item.tests), item_.stop);
  run.channel = std::move(judges_end_);
  run.warm = item_.judge_warm;
  run.beside_slots = true;
  return run;
}

void SeparateItem::start() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    const std::string why = "socketpair: " + kernel::errno_text(errno);
    over_timer_.start(std::chrono::milliseconds(0), [this, why] {
      on_over_({.judgement = {.fault = Fault{.cause = "internal", .detail = why}, .cases = {}},
                .degraded = {},
                .stdout_tail = {},
                .stderr_tail = {}});
    });
    return;
  }
  candidates_end_ = std::make_shared<kernel::Fd>(ends[0]);
  judges_end_ = std::make_shared<kernel::Fd>(ends[1]);
  candidate_.start(
      candidate_run(), [this] { got_slot(); }, [this] { candidate_over(); });
}

// At once where the candidate need not wait, so that the starts of both are one commit. What keeps
// the candidate from its start then ends the judge.
void SeparateItem::got_slot() {
  slot_at_ = kernel::Clock::now();
  if (is_stopped_) return;
  judge_.start(
      judge_run(), {}, [this] { judge_over(); }, [this] { judge_begun(); });
}

void SeparateItem::judge_begun() {
  has_judge_begun_ = true;
  check_grace();
}

void SeparateItem::candidate_over() {
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
  candidate_.stop(reason);
  judge_.stop(reason);
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
  return judgement_of(candidate_.end(), judge_.end(), report_of(judge_));
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
            .cold_because = cold_because()});
}

}  // namespace paddock::supervisor
