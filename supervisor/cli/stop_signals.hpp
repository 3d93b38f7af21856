#pragma once
// StopSignals: Ctrl-C and its kin as something that a poll loop can wait for. The first signal asks
// the run to end, the second kills it; the third ends this process at once, whatever it is doing,
// and the run's launcher sees that and kills the run.

#include "kernel/base/fd.hpp"

namespace paddock::supervisor::cli {

class StopSignals {
 public:
  // Handles SIGINT, SIGTERM and SIGHUP from now on, except those that were ignored (nohup). Only
  // the last one made in a process sees them.
  static kernel::Result<StopSignals> install();

  int fd() const { return read_end_.get(); }  // readable when one has come
  void take();                                // makes it unreadable until the next
  int seen() const;                           // how many have come

 private:
  explicit StopSignals(kernel::Fd read_end) : read_end_(std::move(read_end)) {}

  kernel::Fd read_end_;
};

}  // namespace paddock::supervisor::cli
