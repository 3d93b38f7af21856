#pragma once
// TemporaryDaemon: a paddockd for one command, where none runs. Its sockets and its ledger are in a
// private directory that goes with it.

#include <sys/types.h>

#include <string>

#include "kernel/base/error.hpp"
#include "supervisor/cli/options.hpp"

namespace paddock::supervisor::cli {

class TemporaryDaemon {
 public:
  // Starts the paddockd that lies beside this program, with the profiles, agents and cgroup base of
  // `options`, and waits until it serves. Fails with io, or with what it says why it does not.
  static kernel::Result<TemporaryDaemon> start(const GlobalOptions& options);

  // Ends it and what it still runs.
  ~TemporaryDaemon();
  TemporaryDaemon(TemporaryDaemon&& other) noexcept;
  TemporaryDaemon& operator=(TemporaryDaemon&&) = delete;

  std::string socket() const { return directory_ + "/run/paddock.sock"; }

 private:
  TemporaryDaemon(std::string directory, pid_t pid) : directory_(std::move(directory)), pid_(pid) {}
  kernel::Result<void> wait_until_it_serves() const;
  void end();

  std::string directory_;
  pid_t pid_ = -1;
};

}  // namespace paddock::supervisor::cli
