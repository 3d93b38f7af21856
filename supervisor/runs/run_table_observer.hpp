#pragma once
// RunTableObserver: who hears of every run, whoever asked for it. Called from within the table,
// which must not be changed from here.

#include <chrono>
#include <optional>

#include "kernel/base/error.hpp"
#include "supervisor/runs/run_record.hpp"

namespace paddock::supervisor {

class RunTableObserver {
 public:
  using Seconds = std::chrono::duration<double>;

  virtual ~RunTableObserver() = default;

  virtual void run_refused(kernel::ErrorCode reason) = 0;  // by the table or the ledger
  virtual void run_left_queue(const RunRecord& run) = 0;   // and is about to be spawned
  // `kill_time`: from the order to end it; absent if there was none.
  virtual void run_finished(const RunRecord& run, std::optional<Seconds> kill_time) = 0;
};

}  // namespace paddock::supervisor
