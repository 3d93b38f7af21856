#pragma once
// Clients that load a daemon and remember what it told them, and what the ledger must say after the
// daemon was killed: the same, and one outcome for each run.

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "faults/faulty_daemon.hpp"

namespace paddock::faults {

// What clients were told: of each run that they know, its cause if they heard of its end.
class Told {
 public:
  void run(const std::string& id);
  void outcome(const std::string& id, const std::string& cause);
  std::map<std::string, std::optional<std::string>> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::optional<std::string>> runs_;
};

// Threads that ask for runs of all kinds until they are stopped or the daemon is gone.
class Load {
 public:
  Load(const DaemonFixture& daemon, Told& told, std::string marker);
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  void ask(std::size_t kind);

  std::string socket_;
  Told& told_;
  std::string marker_;
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
};

// One run of each kind; false if the daemon went away meanwhile.
bool ask_for(const std::string& socket, Told& told, const std::string& marker, std::size_t kind);

// Fails the test unless the ledger is whole, has exactly one outcome of each run, and says what was
// told.
void check_ledger(const DaemonFixture& daemon, const Told& told);

}  // namespace paddock::faults
