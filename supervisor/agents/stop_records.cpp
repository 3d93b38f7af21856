#include "supervisor/agents/stop_records.hpp"

#include <utility>

namespace paddock::supervisor {

void StopRecords::commit(const std::string& agent, Transition transition, OnSettled on_settled) {
  ++pending_[agent].commits;
  wait(agent, std::move(on_settled));
  // What has to be kept is tried until it is written.
  recorder_.commit(std::move(transition), IfUnwritten::keep,
                   [this, agent](const kernel::Result<std::uint64_t>& seq) {
                     committed(agent, seq.has_value());
                   });
}

void StopRecords::wait(const std::string& agent, OnSettled on_settled) {
  std::list<Waiter>& waiters = pending_[agent].waiters;
  const auto waiter = waiters.insert(waiters.end(), {.patience = std::make_unique<Timer>(loop_),
                                                     .on_settled = std::move(on_settled)});
  waiter->patience->start(patience_, [&waiters, waiter] {
    const Waiter impatient = std::move(*waiter);
    waiters.erase(waiter);
    impatient.on_settled(false);
  });
}

// They are committed in order: the last of them is the one that holds.
void StopRecords::committed(const std::string& agent, bool recorded) {
  const auto at = pending_.find(agent);
  if (--at->second.commits > 0) return;
  const std::list<Waiter> waiters = std::move(at->second.waiters);
  pending_.erase(at);
  for (const Waiter& waiter : waiters) waiter.on_settled(recorded);
}

}  // namespace paddock::supervisor
