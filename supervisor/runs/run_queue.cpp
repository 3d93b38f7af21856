#include "supervisor/runs/run_queue.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::size_t left(std::size_t limit, std::size_t used) {
  return used < limit ? limit - used : 0;
}

tl::unexpected<kernel::Error> too_busy(std::string what) {
  return fail(ErrorCode::too_busy, std::move(what) + "; try again later");
}

}  // namespace

void RunQueue::set_tenant_limits(std::map<std::string, TenantLimits> limits) {
  tenant_limits_ = std::move(limits);
}

Result<void> RunQueue::push(const RunId& id, const std::string& tenant, std::size_t bytes) {
  // Those that come in one turn of the loop are all in the queue, also if they need not wait there.
  if (queued_ >= limits_.queued_max + left(limits_.alive_max, alive_))
    return too_busy("the queue is full (" + std::to_string(limits_.queued_max) + " runs)");
  const std::size_t queued_max = limits_of(tenant).queued_max.value_or(limits_.queued_max);
  if (queued(tenant) >= queued_max + free_slots(tenant))
    return too_busy("the queue of tenant '" + tenant + "' is full (" + std::to_string(queued_max) +
                    " runs, and " + std::to_string(alive(tenant)) + " of its runs are alive)");
  TRY_VOID(check_bytes(tenant, bytes));

  TenantState& state = tenants_[tenant];
  state.waiting.push_back({id, ++last_ticket_, bytes});
  state.waiting_bytes += bytes;
  places_[id] = {tenant, false};
  ++queued_;
  queued_bytes_ += bytes;
  return {};
}

Result<void> RunQueue::grow(const RunId& id, std::size_t bytes) {
  const auto place = places_.find(id);
  if (place == places_.end() || place->second.is_alive) return {};
  TRY_VOID(check_bytes(place->second.tenant, bytes));
  TenantState& state = tenants_.at(place->second.tenant);
  const auto run = std::find_if(state.waiting.begin(), state.waiting.end(),
                                [&](const Waiting& waiting) { return waiting.id == id; });
  run->bytes += bytes;
  state.waiting_bytes += bytes;
  queued_bytes_ += bytes;
  return {};
}

std::optional<RunId> RunQueue::take() {
  TenantState* next = nullptr;
  const auto rank = [](const TenantState& state) {
    return std::tuple(state.alive, state.waits_since());
  };
  for (auto& [tenant, state] : tenants_) {
    if (state.waiting.empty() || free_slots(tenant) == 0) continue;
    if (next == nullptr || rank(state) < rank(*next)) next = &state;
  }
  if (next == nullptr) return std::nullopt;
  const Waiting run = std::move(next->waiting.front());
  next->waiting.pop_front();
  next->last_turn = ++last_ticket_;
  next->waiting_bytes -= run.bytes;
  ++next->alive;
  places_.at(run.id).is_alive = true;
  --queued_;
  queued_bytes_ -= run.bytes;
  ++alive_;
  return run.id;
}

void RunQueue::remove(const RunId& id) {
  const auto place = places_.find(id);
  if (place == places_.end()) return;
  const auto [tenant, is_alive] = std::exchange(place->second, {});
  places_.erase(place);
  TenantState& state = tenants_.at(tenant);
  if (is_alive) {
    --state.alive;
    --alive_;
  } else {
    const auto run = std::find_if(state.waiting.begin(), state.waiting.end(),
                                  [&](const Waiting& waiting) { return waiting.id == id; });
    state.waiting_bytes -= run->bytes;
    queued_bytes_ -= run->bytes;
    --queued_;
    state.waiting.erase(run);
  }
  if (state.alive == 0 && state.waiting.empty()) tenants_.erase(tenant);
}

std::vector<RunId> RunQueue::waiting() const {
  std::vector<std::pair<std::uint64_t, RunId>> runs;
  for (const auto& [tenant, state] : tenants_)
    for (const Waiting& run : state.waiting) runs.emplace_back(run.ticket, run.id);
  std::sort(runs.begin(), runs.end());
  std::vector<RunId> ids;
  for (auto& [ticket, id] : runs) ids.push_back(std::move(id));
  return ids;
}

std::size_t RunQueue::alive(const std::string& tenant) const {
  const TenantState* state = find(tenant);
  return state == nullptr ? 0 : state->alive;
}

std::size_t RunQueue::queued(const std::string& tenant) const {
  const TenantState* state = find(tenant);
  return state == nullptr ? 0 : state->waiting.size();
}

TenantLimits RunQueue::limits_of(const std::string& tenant) const {
  const auto limits = tenant_limits_.find(tenant);
  return limits == tenant_limits_.end() ? TenantLimits{} : limits->second;
}

// How many more runs of the tenant could start now, if nobody else's did.
std::size_t RunQueue::free_slots(const std::string& tenant) const {
  return std::min(left(limits_.alive_max, alive_),
                  left(limits_of(tenant).alive_max.value_or(unlimited), alive(tenant)));
}

Result<void> RunQueue::check_bytes(const std::string& tenant, std::size_t more) const {
  if (more > left(limits_.queued_bytes_max, queued_bytes_))
    return too_busy("the queue is full (" + std::to_string(limits_.queued_bytes_max) +
                    " bytes of input)");
  const std::size_t own_max = limits_of(tenant).queued_bytes_max.value_or(unlimited);
  const TenantState* state = find(tenant);
  if (more > left(own_max, state == nullptr ? 0 : state->waiting_bytes))
    return too_busy("the queue of tenant '" + tenant + "' is full (" + std::to_string(own_max) +
                    " bytes of input)");
  return {};
}

const RunQueue::TenantState* RunQueue::find(const std::string& tenant) const {
  const auto state = tenants_.find(tenant);
  return state == tenants_.end() ? nullptr : &state->second;
}

}  // namespace paddock::supervisor
