#pragma once
// RunHistory: runs that only the ledger remembers: those that the run table has forgotten, and
// those of daemons before this one.

#include <functional>
#include <set>
#include <vector>

#include "supervisor/ledger/ledger.hpp"
#include "supervisor/runs/run_record.hpp"

namespace paddock::supervisor {

class RunHistory {
 public:
  // `ledger` outlives this.
  explicit RunHistory(Ledger& ledger) : ledger_(ledger) {}
  RunHistory(const RunHistory&) = delete;
  RunHistory& operator=(const RunHistory&) = delete;

  using OnRun = std::function<void(kernel::Result<std::optional<StoredRun>>)>;
  using OnRuns = std::function<void(kernel::Result<std::vector<StoredRun>>)>;

  // Answered from the loop, but with too_busy from within the call where too many questions wait.
  void find(const RunId& id, OnRun on_run);
  // Those that `filter` lets through and that are not `known`, newest first.
  void list(RunFilter filter, std::set<RunId> known, OnRuns on_runs);

 private:
  template <class Answer>
  void ask(std::function<kernel::Result<Answer>(LedgerReader&)> question,
           std::function<void(kernel::Result<Answer>)> on_answer);

  Ledger& ledger_;
  std::size_t waiting_ = 0;
};

}  // namespace paddock::supervisor
