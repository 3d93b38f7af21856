#pragma once
// TimedRecorder: a recorder that says how long each commit took.

#include <chrono>
#include <utility>

#include "supervisor/ledger/recorder.hpp"

namespace paddock::supervisor {

class TimedRecorder final : public Recorder {
 public:
  using OnTime = std::function<void(std::chrono::steady_clock::duration)>;

  // `recorder` outlives this. `on_time` is called for what was committed, before its own callback.
  TimedRecorder(Recorder& recorder, OnTime on_time)
      : recorder_(recorder), on_time_(std::move(on_time)) {}

  void commit(Transition transition, IfUnwritten if_unwritten, OnCommitted on_committed) override {
    recorder_.commit(
        std::move(transition), if_unwritten,
        [on_time = on_time_, begin = std::chrono::steady_clock::now(),
         on_committed = std::move(on_committed)](const kernel::Result<std::uint64_t>& committed) {
          if (committed) on_time(std::chrono::steady_clock::now() - begin);
          if (on_committed) on_committed(committed);
        });
  }
  bool is_writing() const override { return recorder_.is_writing(); }

 private:
  Recorder& recorder_;
  OnTime on_time_;
};

}  // namespace paddock::supervisor
