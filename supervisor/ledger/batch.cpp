#include "supervisor/ledger/batch.hpp"

#include <algorithm>
#include <span>

namespace paddock::supervisor {
namespace {

using kernel::Result;

void write_kept(LedgerWriter& writer, Batch& batch) {
  std::vector<std::size_t> places;
  std::vector<Transition> kept;
  for (std::size_t i = 0; i < batch.transitions.size(); ++i) {
    if (batch.if_unwritten[i] != IfUnwritten::keep) continue;
    places.push_back(i);
    kept.push_back(batch.transitions[i]);
  }
  if (kept.empty()) return;
  if (writer.is_full()) writer.release_reserve();
  std::size_t written = 0;
  std::size_t step = kept.size();
  while (written < kept.size() && step > 0) {
    const std::size_t count = std::min(step, kept.size() - written);
    const auto first = writer.apply(std::span(kept).subspan(written, count));
    if (!first) {
      batch.problem = first.error().message;
      step = count / 2;
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) batch.answers[places[written + i]] = *first + i;
    written += count;
  }
  if (written == kept.size()) batch.problem.clear();
}

}  // namespace

void write(LedgerWriter& writer, Batch& batch) {
  batch.answers.assign(batch.transitions.size(), std::nullopt);
  batch.problem.clear();
  batch.failure.clear();
  if (!batch.transitions.empty()) {
    const auto first = writer.apply(batch.transitions);
    for (std::size_t i = 0; i < batch.transitions.size(); ++i) {
      if (first) {
        batch.answers[i] = *first + i;
      } else if (batch.if_unwritten[i] == IfUnwritten::refuse) {
        batch.answers[i] = tl::unexpected<kernel::Error>(first.error());
      }
    }
    if (!first) {
      batch.failure = first.error().message;
      write_kept(writer, batch);
    }
  }
  if (batch.problem.empty()) {
    const Result<void> restored = writer.restore_reserve();
    if (!restored) batch.problem = restored.error().message;
  }
  if (batch.failure.empty()) batch.failure = batch.problem;
  batch.head = writer.head();
}

}  // namespace paddock::supervisor
