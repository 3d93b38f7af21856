#pragma once
// Ledger: a ledger file as the loop uses it, through one thread that writes and one that reads.
// Nothing here waits for the disk, but start() and finish().

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <uv.h>

#include "supervisor/ledger/batch.hpp"
#include "supervisor/ledger/ledger_reader.hpp"
#include "supervisor/ledger/ledger_writer.hpp"
#include "supervisor/ledger/recorder.hpp"
#include "supervisor/loop/timer.hpp"
#include "supervisor/loop/worker.hpp"

namespace paddock::supervisor {

// No call from here may destroy the Ledger.
class Ledger final : public Recorder {
 public:
  // `writer` was opened on `path` and comes from recovery. One without a reserve does not take new
  // things before there is room for it. Fails with not_recorded, or io.
  static kernel::Result<std::unique_ptr<Ledger>> start(uv_loop_t* loop, const std::string& path,
                                                       LedgerWriter writer, LedgerLimits limits);
  // finish(), for who does not ask what became of it.
  ~Ledger() override;

  void commit(Transition transition, IfUnwritten if_unwritten, OnCommitted on_committed) override;
  bool is_writing() const override;

  // Runs `question` on the reading thread and `on_answer` on the loop. Questions are answered one
  // after the other; how many may wait is the caller's to bound.
  template <class Answer>
  void read(std::function<kernel::Result<Answer>(LedgerReader&)> question,
            std::function<void(kernel::Result<Answer>)> on_answer);

  // Called from the loop after each commit, with the newest seq: for streams of events.
  void on_growth(std::function<void(std::uint64_t)> on_growth);

  // Writes what is kept, and blocks for it. From now on no callback is called, but for transitions
  // that still come: those are refused. Fails with not_recorded: how many are lost, and why.
  kernel::Result<void> finish();

  std::uint64_t head() const { return head_; }  // the newest committed seq
  std::size_t unwritten() const;                // transitions waiting for their commit
  // Why is_writing() is false; empty if it is true.
  const std::string& problem() const { return problem_; }

  // What the last write failed for, also where all that was refused was new and is_writing() holds;
  // empty once one succeeds.
  const std::string& failure() const { return failure_; }
  // Called from the loop when failure() turns from empty to something or back.
  void on_turn(std::function<void()> on_turn);

 private:
  struct Waiting {
    Transition transition;
    IfUnwritten if_unwritten = IfUnwritten::refuse;
    OnCommitted on_committed;
  };
  struct Answered {
    OnCommitted on_committed;
    kernel::Result<std::uint64_t> result;
  };

  Ledger(uv_loop_t* loop, std::string path, LedgerWriter writer, LedgerReader reader,
         LedgerLimits limits);
  void retry_later();
  void write_at_end_of_turn();
  void write_next();
  void write_batch();
  void prune_step();
  void end_batch();
  void end_prune_step(const kernel::Result<std::size_t>& pruned, std::uint64_t head);
  std::vector<Answered> take_answers();
  void refuse_waiting(std::vector<Answered>& answers);
  void refuse_soon(OnCommitted on_committed);
  void grow_to(std::uint64_t head);
  void reconnect_if_locked_out();          // on the writing thread
  kernel::Result<LedgerReader*> reader();  // on the reading thread; call with reader_mutex_ held

  std::string path_;
  LedgerWriter writer_;                 // of the writing thread
  std::mutex reader_mutex_;             // guards reader_
  std::optional<LedgerReader> reader_;  // of the reading thread; none where it must be opened again
  LedgerLimits limits_;
  std::uint64_t head_ = 0;
  std::string problem_;
  std::string failure_;
  std::function<void()> on_turn_;
  std::function<void(std::uint64_t)> on_growth_;

  std::deque<Waiting> waiting_;
  std::vector<OnCommitted> in_flight_;  // of batch_, in its order
  std::shared_ptr<Batch> batch_;        // while it is being written
  bool is_retry_due_ = false;
  bool is_pruning_ = false;  // a step is under way
  bool is_prune_due_ = false;
  bool was_batch_last_ = false;  // so that neither batches nor pruning starve the other

  std::deque<OnCommitted> refusals_;
  Timer refusal_timer_;
  Timer retry_timer_;
  UvHandle<uv_prepare_t> end_of_turn_;
  UvHandle<uv_timer_t> prune_timer_;  // does not keep the loop going
  std::unique_ptr<Worker> reading_;
  std::unique_ptr<Worker> writing_;  // none after finish()
};

template <class Answer>
void Ledger::read(std::function<kernel::Result<Answer>(LedgerReader&)> question,
                  std::function<void(kernel::Result<Answer>)> on_answer) {
  auto answer = std::make_shared<std::optional<kernel::Result<Answer>>>();
  const auto ask = [this, question = std::move(question)]() -> kernel::Result<Answer> {
    const std::lock_guard lock(reader_mutex_);
    LedgerReader* const open_reader = TRY(reader());
    return question(*open_reader);
  };
  reading_->submit([answer, ask] { *answer = ask(); },
                   [answer, on_answer = std::move(on_answer)] { on_answer(std::move(**answer)); });
}

}  // namespace paddock::supervisor
