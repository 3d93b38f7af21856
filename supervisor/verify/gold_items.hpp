#pragma once
// GoldItems: two items whose verdicts are known, judged as a client's are: one must pass and one
// must fail. They are nobody's: in no request, no feed and no list.

#include <memory>
#include <vector>

#include "kernel/policy/profile.hpp"
#include "supervisor/loop/timer.hpp"
#include "supervisor/runs/canary.hpp"
#include "supervisor/verify/judging.hpp"
#include "supervisor/verify/verify_wishes.hpp"

namespace paddock::supervisor {

// The first must pass, the second must fail. Fails as a verify request under that profile would.
kernel::Result<std::vector<ResolvedItem>> gold_items(const kernel::Profile& profile,
                                                     const VerifyWishes& wishes = {});

// Of the one that must pass, or the other. Pure.
CanaryItems::Result gold_result(const Judgement& judgement, bool must_pass);

class GoldItems final : public CanaryItems {
 public:
  using MakeItems =
      std::function<kernel::Result<std::vector<ResolvedItem>>(const std::string& profile)>;

  // `runs` outlives this. Those runs that are left when this goes must not end any more.
  GoldItems(uv_loop_t* loop, RunTable& runs, MakeItems make_items)
      : loop_(loop), runs_(runs), make_items_(std::move(make_items)), timer_(loop) {}
  GoldItems(const GoldItems&) = delete;
  GoldItems& operator=(const GoldItems&) = delete;

  void judge(const std::string& profile, OnJudged on_judged) override;
  void stop(const std::string& reason) override;

 private:
  void judge_next();
  void judged(const Judgement& judgement);
  void over(Result result);

  uv_loop_t* loop_;
  RunTable& runs_;
  MakeItems make_items_;
  Timer timer_;
  OnJudged on_judged_;
  std::vector<ResolvedItem> items_;
  std::size_t next_ = 0;
  std::unique_ptr<Judging> judging_;
};

}  // namespace paddock::supervisor
