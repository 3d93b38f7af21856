#pragma once
// StdioItem: a program that is compiled once, if its language is, and run once per case. The daemon
// compares what it writes. Where a step ends as if this host lacked its program, a run without the
// item's code tells whether that is so.

#include <memory>

#include "supervisor/runtimes/runtime.hpp"
#include "supervisor/runtimes/step.hpp"
#include "supervisor/verify/item_run.hpp"
#include "supervisor/verify/judging.hpp"

namespace paddock::supervisor {

class StdioItem final : public Judging {
 public:
  StdioItem(uv_loop_t* loop, RunTable& runs, ResolvedItem item, OnOver on_over);

  void start() override;
  void stop(const std::string& reason) override;
  std::vector<RunId> runs() const override { return ids_; }
  std::optional<kernel::Clock::time_point> slot_at() const override { return slot_at_; }

 private:
  void start_compiler(const CompileStep& step);
  void compiled();
  void start_case();
  void case_over();
  void add_case(CaseAnswer answer);
  std::string cold_because() const;
  void unless_trial_fails(const std::vector<std::string>& command, const char* whose,
                          std::function<void()> then);
  void start_trial(const std::vector<std::string>& command, const char* whose,
                   std::function<void()> then);
  void start_run(ResolvedRun run, std::function<void()> then);
  void over_soon(Judgement judgement);
  void over(Judgement judgement);
  const std::vector<StdioCase>& cases() const {
    return std::get<StdioTests>(item_.item.tests).cases;
  }

  uv_loop_t* loop_;
  RunTable& runs_;
  ResolvedItem item_;
  OnOver on_over_;
  Timer step_timer_;
  std::unique_ptr<ItemRun> run_;  // of the step that is under way, or was last
  std::unique_ptr<ItemRun> trial_;
  bool is_tried_ = false;       // that the host has what a step takes
  std::size_t cold_count_ = 0;  // of cases whose run was to be a fork and was none
  std::string cold_because_;    // the first of them
  std::shared_ptr<kernel::Fd> compiler_channel_;
  Files files_;  // what the program is made of
  std::vector<CaseAnswer> answers_;
  std::vector<RunId> ids_;  // of those that are over
  std::optional<kernel::Clock::time_point> slot_at_;
  std::string stop_reason_;  // empty: it goes on
};

}  // namespace paddock::supervisor
