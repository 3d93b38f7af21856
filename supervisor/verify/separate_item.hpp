#pragma once
// SeparateItem: the candidate in one sandbox, the judge with the tests in another, and a channel
// between them.

#include "kernel/base/fd.hpp"
#include "supervisor/verify/item_run.hpp"
#include "supervisor/verify/judging.hpp"

namespace paddock::supervisor {

// The judge's wall clock begins a little later than its candidate's, and must not be what ends
// them.
constexpr std::chrono::milliseconds judge_wall_margin{5'000};
// For the report, when the candidate is over and the judge has begun.
constexpr std::chrono::milliseconds judge_grace{2'000};
// For a candidate that nobody asks any more to notice that.
constexpr std::chrono::milliseconds candidate_grace{200};

class SeparateItem final : public Judging {
 public:
  SeparateItem(uv_loop_t* loop, RunTable& runs, ResolvedItem item, OnOver on_over);

  void start() override;
  void stop(const std::string& reason) override;
  std::vector<RunId> runs() const override;
  std::optional<kernel::Clock::time_point> slot_at() const override { return slot_at_; }

 private:
  ResolvedRun candidate_run();
  ResolvedRun judge_run();
  void got_slot();
  void judge_begun();
  void candidate_over();
  void check_grace();
  void judge_over();
  void check_over();
  Judgement judgement() const;
  std::string cold_because() const;

  ResolvedItem item_;
  OnOver on_over_;
  ItemRun candidate_;
  ItemRun judge_;
  Timer over_timer_;
  std::shared_ptr<kernel::Fd> candidates_end_;
  std::shared_ptr<kernel::Fd> judges_end_;
  bool has_judge_begun_ = false;
  bool is_stopped_ = false;
  std::optional<kernel::Clock::time_point> slot_at_;
};

}  // namespace paddock::supervisor
