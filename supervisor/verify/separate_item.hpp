#pragma once
// SeparateItem: the candidate in one sandbox, the judge with the tests in another, and a channel
// between them. Where the answers to the tests are known the daemon asks, and there is a judge only
// for a candidate that says something else.

#include "kernel/base/fd.hpp"
#include "supervisor/verify/item_run.hpp"
#include "supervisor/verify/judging.hpp"
#include "supervisor/verify/known_asker.hpp"

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
  void over_soon(std::string why);
  void got_slot();
  void start_judge();
  void asker_over();
  void judge_begun();
  void candidate_over();
  void stop_asking();
  void check_grace();
  void judge_over();
  void check_over();
  Judgement judgement() const;
  std::string cold_because() const;

  uv_loop_t* loop_;
  ResolvedItem item_;
  OnOver on_over_;
  ItemRun candidate_;
  ItemRun judge_;
  std::unique_ptr<KnownAsker> asker_;
  std::optional<DialogueSoFar> so_far_;                 // for a judge that comes after the asker
  std::optional<std::vector<CaseAnswer>> known_cases_;  // of a candidate that knew each answer
  Timer over_timer_;
  std::shared_ptr<kernel::Fd> candidates_end_;
  std::shared_ptr<kernel::Fd> judges_end_;
  std::optional<kernel::Clock::time_point> candidate_begun_at_;
  kernel::Clock::duration asked_before_{};  // the time for which the asker waited for the candidate
  bool has_judge_begun_ = false;
  bool is_stopped_ = false;
  std::optional<kernel::Clock::time_point> slot_at_;
};

}  // namespace paddock::supervisor
