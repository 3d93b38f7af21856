#include "supervisor/api/run_history.hpp"

#include <algorithm>
#include <utility>

namespace paddock::supervisor {
namespace {

using kernel::Result;

constexpr std::size_t questions_waiting_max = 64;

// Rows alone do not say what ran: that is in a run's first event.
Result<std::vector<StoredRun>> read_runs(LedgerReader& reader, const RunFilter& filter,
                                         const std::set<RunId>& known, std::size_t limit) {
  std::vector<StoredRun> runs;
  for (const RunRow& row : TRY(reader.runs(filter))) {
    if (runs.size() == limit) break;
    if (known.contains(row.id)) continue;
    if (auto run = TRY(reader.run(row.id))) runs.push_back(std::move(*run));
  }
  std::stable_sort(runs.begin(), runs.end(), [](const StoredRun& a, const StoredRun& b) {
    return a.row.created_us > b.row.created_us;
  });
  return runs;
}

}  // namespace

template <class Answer>
void RunHistory::ask(std::function<Result<Answer>(LedgerReader&)> question,
                     std::function<void(Result<Answer>)> on_answer) {
  if (waiting_ == questions_waiting_max)
    return on_answer(kernel::fail(kernel::ErrorCode::too_busy,
                                  "too many questions to the ledger wait; try again later"));
  ++waiting_;
  ledger_.read<Answer>(std::move(question),
                       [this, on_answer = std::move(on_answer)](Result<Answer> answer) {
                         --waiting_;
                         on_answer(std::move(answer));
                       });
}

void RunHistory::find(const RunId& id, OnRun on_run) {
  ask<std::optional<StoredRun>>([id](LedgerReader& reader) { return reader.run(id); },
                                std::move(on_run));
}

void RunHistory::list(RunFilter filter, std::set<RunId> known, OnRuns on_runs) {
  const std::size_t limit = filter.limit;
  filter.limit += known.size();
  ask<std::vector<StoredRun>>(
      [filter, known = std::move(known), limit](LedgerReader& reader) {
        return read_runs(reader, filter, known, limit);
      },
      std::move(on_runs));
}

}  // namespace paddock::supervisor
