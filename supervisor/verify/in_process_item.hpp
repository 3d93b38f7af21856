#pragma once
// InProcessItem: code and tests in one interpreter. It can forge its report; whoever asks for it
// knows that.

#include "kernel/base/fd.hpp"
#include "supervisor/verify/item_run.hpp"
#include "supervisor/verify/judging.hpp"

namespace paddock::supervisor {

class InProcessItem final : public Judging {
 public:
  InProcessItem(uv_loop_t* loop, RunTable& runs, ResolvedItem item, OnOver on_over);

  void start() override;
  void stop(const std::string& reason) override;
  std::vector<RunId> runs() const override;
  std::optional<kernel::Clock::time_point> slot_at() const override { return slot_at_; }

 private:
  void over();

  ResolvedItem item_;
  OnOver on_over_;
  ItemRun run_;
  Timer over_timer_;
  std::shared_ptr<kernel::Fd> report_;
  std::optional<kernel::Clock::time_point> slot_at_;
};

}  // namespace paddock::supervisor
