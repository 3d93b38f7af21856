#include "supervisor/runs/outcomes.hpp"

#include <utility>

namespace paddock::supervisor {

void Outcomes::commit(const RunId& id, Transition transition, OnSettled on_settled) {
  Waiting& waiting = waiting_[id];
  waiting.on_settled = std::move(on_settled);
  waiting.patience = std::make_unique<Timer>(loop_);
  waiting.patience->start(patience_, [this, id] { settle(id, false); });
  // What has to be kept is tried until it is written: there is no failure to hear of.
  recorder_.commit(std::move(transition), IfUnwritten::keep,
                   [this, id](const kernel::Result<std::uint64_t>& committed) {
                     settle(id, committed.has_value());
                   });
}

void Outcomes::settle(const RunId& id, bool recorded) {
  const auto at = waiting_.find(id);
  if (at == waiting_.end()) return;
  const OnSettled on_settled = at->second.on_settled;
  if (recorded) {
    waiting_.erase(at);
  } else {
    at->second.patience.reset();
  }
  on_settled(recorded);
}

}  // namespace paddock::supervisor
