#pragma once
// TimedRecorder: a recorder that says what was committed, and how long that took.

#include <chrono>
#include <string>
#include <utility>

#include "supervisor/ledger/recorder.hpp"

namespace paddock::supervisor {

class TimedRecorder final : public Recorder {
 public:
  using OnCommit =
      std::function<void(const std::string& kind, std::chrono::steady_clock::duration took)>;

  // `recorder` outlives this. `on_commit` is called with the event's kind, before the commit's own
  // callback.
  TimedRecorder(Recorder& recorder, OnCommit on_commit)
      : recorder_(recorder), on_commit_(std::move(on_commit)) {}

  void commit(Transition transition, IfUnwritten if_unwritten, OnCommitted on_committed) override {
    std::string kind = transition.event.kind;
    recorder_.commit(
        std::move(transition), if_unwritten,
        [this, kind = std::move(kind), begin = std::chrono::steady_clock::now(),
         on_committed = std::move(on_committed)](const kernel::Result<std::uint64_t>& committed) {
          if (committed) on_commit_(kind, std::chrono::steady_clock::now() - begin);
          if (on_committed) on_committed(committed);
        });
  }
  bool is_writing() const override { return recorder_.is_writing(); }

 private:
  Recorder& recorder_;
  OnCommit on_commit_;
};

}  // namespace paddock::supervisor
