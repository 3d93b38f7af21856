#pragma once
// Ledger: a ledger file as the loop uses it, through one thread that writes and one that reads.
// Nothing here waits for the disk.

#include <functional>
#include <memory>
#include <string>

#include <uv.h>

#include "supervisor/ledger/ledger_reader.hpp"
#include "supervisor/ledger/ledger_writer.hpp"
#include "supervisor/ledger/recorder.hpp"

namespace paddock::supervisor {

class Ledger final : public Recorder {
 public:
  // `writer` was opened on `path` and comes from recovery.
  static kernel::Result<std::unique_ptr<Ledger>> start(uv_loop_t* loop, const std::string& path,
                                                       LedgerWriter writer, LedgerLimits limits);
  // Writes what is still to be written, and blocks for it; what then cannot be written is logged
  // by the caller of `unwritten()`. No callback is called.
  ~Ledger() override;

  void commit(Transition transition, IfUnwritten if_unwritten, OnCommitted on_committed) override;
  bool is_writing() const override;

  // Runs `question` on the reading thread and `on_answer` on the loop.
  template <class Answer>
  void read(std::function<kernel::Result<Answer>(LedgerReader&)> question,
            std::function<void(kernel::Result<Answer>)> on_answer);

  // Called from the loop after each commit, with the newest seq: for streams of events.
  void on_growth(std::function<void(std::uint64_t)> on_growth);

  std::uint64_t head() const;     // the newest committed seq
  std::size_t unwritten() const;  // transitions waiting for their commit
  std::string problem() const;    // why is_writing() is false; empty if it is true
};

}  // namespace paddock::supervisor
