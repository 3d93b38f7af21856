#pragma once
// A directory with a ledger in it, and transitions to write.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "supervisor/ledger/ledger.hpp"
#include "supervisor/ledger/verify.hpp"
#include "supervisor/loop/event_loop.hpp"
#include "support/catch.hpp"

namespace paddock::tests {

class LedgerDirectory {
 public:
  LedgerDirectory();
  ~LedgerDirectory();
  LedgerDirectory(const LedgerDirectory&) = delete;
  LedgerDirectory& operator=(const LedgerDirectory&) = delete;

  const std::string& directory() const { return directory_; }
  std::string path() const { return directory_ + "/ledger.db"; }
  std::string lock() const { return directory_ + "/ledger.lock"; }
  std::string reserve() const { return directory_ + "/ledger.reserve"; }

  supervisor::LedgerWriter open() const;
  supervisor::LedgerReader reader() const;
  supervisor::Verification verify() const;
  // As another program would: with SQLite's own connection, which must not fail.
  void edit(const std::string& sql) const;
  std::int64_t ask(const std::string& sql) const;
  // The start and the end of each of these runs, in one commit.
  void write_runs(int count) const;

 private:
  std::string directory_;
};

// "r-" and the number.
supervisor::RunRow sample_run(int number, const std::string& state);
// Its event is "run.STATE", `at` this many seconds after the epoch.
supervisor::Transition sample_transition(int number, const std::string& state,
                                         std::int64_t at_seconds = 1000);

// Samples are of 1970.
constexpr supervisor::LedgerLimits keep_all{.keep = std::chrono::hours(24 * 365 * 100),
                                            .keep_bytes = 1ull << 40};

// A ledger on a loop of its own. Declared after a LedgerDirectory.
class RunningLedger {
 public:
  explicit RunningLedger(const LedgerDirectory& directory,
                         supervisor::LedgerLimits limits = keep_all);

  // Turns the loop until `condition` holds, and fails the test after 30 s.
  void wait_until(const std::function<bool()>& condition) const;

  std::unique_ptr<supervisor::EventLoop> loop = supervisor::EventLoop::create().value();
  std::unique_ptr<supervisor::Ledger> ledger;
};

}  // namespace paddock::tests
