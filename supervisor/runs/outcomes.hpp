#pragma once
// Outcomes: the commits of runs that are over. A client waits for the commit of its run's outcome,
// but not for ever.

#include <chrono>
#include <functional>
#include <map>
#include <memory>

#include "supervisor/ledger/recorder.hpp"
#include "supervisor/loop/timer.hpp"
#include "supervisor/runs/run_record.hpp"

namespace paddock::supervisor {

class Outcomes {
 public:
  // With true once it is committed; with false before that, if that takes longer than the patience.
  using OnSettled = std::function<void(bool recorded)>;

  // `recorder` outlives this, and calls nothing after the loop's last turn.
  Outcomes(uv_loop_t* loop, Recorder& recorder,
           std::chrono::milliseconds patience = std::chrono::seconds(5))
      : loop_(loop), recorder_(recorder), patience_(patience) {}
  Outcomes(const Outcomes&) = delete;
  Outcomes& operator=(const Outcomes&) = delete;

  // `on_settled` is called from the loop, never from here.
  void commit(const RunId& id, Transition transition, OnSettled on_settled);

 private:
  void settle(const RunId& id, bool recorded);

  struct Waiting {
    std::unique_ptr<Timer> patience;  // null once it has run out
    OnSettled on_settled;
  };

  uv_loop_t* loop_;
  Recorder& recorder_;
  std::chrono::milliseconds patience_;
  std::map<RunId, Waiting> waiting_;
};

}  // namespace paddock::supervisor
