#pragma once
// A recorder of one test: it remembers what it is told and answers from the loop, as the ledger
// does, but when and how the test says.

#include <uv.h>

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "supervisor/ledger/recorder.hpp"
#include "supervisor/loop/timer.hpp"

namespace paddock::tests {

class TestRecorder final : public supervisor::Recorder {
 public:
  explicit TestRecorder(uv_loop_t* loop) : timer_(loop) {}

  void commit(supervisor::Transition transition, supervisor::IfUnwritten if_unwritten,
              supervisor::OnCommitted on_committed) override {
    const bool is_late = delay_if && delay_if(transition);
    (is_late ? delayed_ : waiting_)
        .push_back({std::move(transition), if_unwritten, std::move(on_committed)});
    schedule();
  }
  bool is_writing() const override { return writing; }

  // While held, nothing is answered. Releases one that is waiting, or all.
  void hold() { held_ = true; }
  void release() {
    held_ = false;
    schedule();
  }

  // Those for which it holds wait, and no others, until they are released.
  std::function<bool(const supervisor::Transition&)> delay_if;
  std::size_t delayed() const { return delayed_.size(); }
  void release_delayed() {
    delay_if = nullptr;
    for (Waiting& each : std::exchange(delayed_, {})) waiting_.push_back(std::move(each));
    schedule();
  }

  std::vector<std::string> kinds() const {
    std::vector<std::string> kinds;
    for (const supervisor::Transition& transition : committed)
      kinds.push_back(transition.event.kind);
    return kinds;
  }
  std::size_t waiting() const { return waiting_.size(); }
  std::vector<std::string> waiting_kinds() const {
    std::vector<std::string> kinds;
    for (const Waiting& each : waiting_) kinds.push_back(each.transition.event.kind);
    return kinds;
  }
  const supervisor::Transition& last() const { return committed.back(); }

  std::vector<supervisor::Transition> committed;
  std::string refused_kind;  // transitions of this kind that may be refused are
  std::function<bool(const supervisor::Transition&)> refuse_if;  // and so are these
  bool writing = true;

 private:
  struct Waiting {
    supervisor::Transition transition;
    supervisor::IfUnwritten if_unwritten;
    supervisor::OnCommitted on_committed;
  };

  void schedule() {
    if (!held_ && !waiting_.empty() && !timer_.is_running())
      timer_.start(std::chrono::milliseconds(0), [this] { answer(); });
  }
  void answer() {
    if (held_) return;
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    schedule();
    const bool refused =
        next.if_unwritten == supervisor::IfUnwritten::refuse &&
        (next.transition.event.kind == refused_kind || (refuse_if && refuse_if(next.transition)));
    if (!refused) committed.push_back(std::move(next.transition));
    if (!next.on_committed) return;
    if (refused) {
      next.on_committed(kernel::fail(kernel::ErrorCode::not_recorded, "the disk is full"));
    } else {
      next.on_committed(committed.size());
    }
  }

  supervisor::Timer timer_;
  std::deque<Waiting> waiting_;
  std::deque<Waiting> delayed_;
  bool held_ = false;
};

}  // namespace paddock::tests
