#pragma once
// StopRecords: the commits that say that an agent is no longer wanted. Who asked for it waits for
// the commit, since a daemon that is killed before it leaves a successor that starts the agent
// again; but not for ever.

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "supervisor/ledger/recorder.hpp"
#include "supervisor/loop/timer.hpp"

namespace paddock::supervisor {

class StopRecords {
 public:
  // With true once it is committed; with false before that, if that takes longer than the patience.
  using OnSettled = std::function<void(bool recorded)>;

  // `recorder` outlives this, and calls nothing after the loop's last turn.
  StopRecords(uv_loop_t* loop, Recorder& recorder,
              std::chrono::milliseconds patience = std::chrono::seconds(5))
      : loop_(loop), recorder_(recorder), patience_(patience) {}
  StopRecords(const StopRecords&) = delete;
  StopRecords& operator=(const StopRecords&) = delete;

  // `on_settled` is called once, from the loop, never from here.
  void commit(const std::string& agent, Transition transition, OnSettled on_settled);
  // Of one whose stop is on its way already. A client that asks again adds nothing to the ledger.
  bool is_pending(const std::string& agent) const { return pending_.contains(agent); }
  void wait(const std::string& agent, OnSettled on_settled);

 private:
  struct Waiter {
    std::unique_ptr<Timer> patience;
    OnSettled on_settled;
  };
  struct Pending {
    std::size_t commits = 0;  // on their way
    std::list<Waiter> waiters;
  };

  void committed(const std::string& agent, bool recorded);

  uv_loop_t* loop_;
  Recorder& recorder_;
  std::chrono::milliseconds patience_;
  std::map<std::string, Pending> pending_;
};

}  // namespace paddock::supervisor
