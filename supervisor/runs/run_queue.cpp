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

Result<void> RunQueue::push(const RunId& id, const std::string& tenant, std::size_t bytes,
                            Time now) {
  // Those that come in one turn of the loop are all in the queue, also if they need not wait there.
  if (queued_ >= limits_.queued_max + left(limits_.alive_max, alive_))
    return too_busy("the queue is full (" + std::to_string(limits_.queued_max) + " runs)");
  const std::size_t queued_max = limits_of(tenant).queued_max.value_or(limits_.queued_max);
  if (queued(tenant) >= queued_max + free_slots(tenant))
    return too_busy("the queue of tenant '" + tenant + "' is full (" + std::to_string(queued_max) +
                    " runs, and " + std::to_string(alive(tenant)) + " of its runs are alive)");
  TRY_VOID(check_bytes(tenant, bytes));

  if (limits_.room_kept.count() > 0) came_[tenant] = now;
  TenantState& state = tenants_[tenant];
  state.waiting.push_back({.id = id, .ticket = ++last_ticket_});
  state.bytes += bytes;
  places_[id] = {.tenant = tenant, .is_alive = false, .bytes = bytes};
  ++queued_;
  bytes_ += bytes;
  return {};
}

void RunQueue::release(const RunId& id) {
  const auto place = places_.find(id);
  if (place == places_.end() || place->second.is_alive) return;
  find(tenants_.at(place->second.tenant), id)->is_held = false;
}

bool RunQueue::take_at_once(const RunId& id) {
  const auto place = places_.find(id);
  if (place == places_.end() || place->second.is_alive) return false;
  const std::string& tenant = place->second.tenant;
  if (free_slots(tenant) == 0) return false;
  const bool overtakes = std::any_of(tenants_.begin(), tenants_.end(), [&](const auto& other) {
    const std::size_t own = other.first == tenant ? 1 : 0;
    return other.second.waiting.size() > own && (own == 1 || free_slots(other.first) > 0);
  });
  if (overtakes) return false;
  TenantState& state = tenants_.at(tenant);
  take(state, find(state, id));
  return true;
}

Result<void> RunQueue::grow(const RunId& id, std::size_t bytes) {
  const auto place = places_.find(id);
  if (place == places_.end()) return {};
  TRY_VOID(check_bytes(place->second.tenant, bytes));
  place->second.bytes += bytes;
  tenants_.at(place->second.tenant).bytes += bytes;
  bytes_ += bytes;
  return {};
}

std::optional<RunId> RunQueue::take(Time now) {
  forget_who_came_before(now - limits_.room_kept);
  TenantState* next = nullptr;
  const auto rank = [](const TenantState& state) {
    return std::tuple(state.alive, state.waits_since());
  };
  for (auto& [tenant, state] : tenants_) {
    if (state.waiting.empty() || state.waiting.front().is_held || free_slots(tenant) == 0) continue;
    if (next == nullptr || rank(state) < rank(*next)) next = &state;
  }
  if (next == nullptr) return std::nullopt;
  RunId id = next->waiting.front().id;
  take(*next, next->waiting.begin());
  return id;
}

void RunQueue::take(TenantState& state, std::deque<Waiting>::iterator run) {
  places_.at(run->id).is_alive = true;
  state.waiting.erase(run);
  state.last_turn = ++last_ticket_;
  ++state.alive;
  --queued_;
  ++alive_;
}

void RunQueue::started(const RunId& id) {
  const auto place = places_.find(id);
  if (place == places_.end()) return;
  const std::size_t bytes = std::exchange(place->second.bytes, 0);
  tenants_.at(place->second.tenant).bytes -= bytes;
  bytes_ -= bytes;
}

void RunQueue::remove(const RunId& id) {
  const auto at = places_.find(id);
  if (at == places_.end()) return;
  const Place place = std::move(at->second);
  places_.erase(at);
  TenantState& state = tenants_.at(place.tenant);
  state.bytes -= place.bytes;
  bytes_ -= place.bytes;
  if (place.is_alive) {
    --state.alive;
    --alive_;
  } else {
    state.waiting.erase(find(state, id));
    --queued_;
  }
  if (state.alive == 0 && state.waiting.empty()) tenants_.erase(place.tenant);
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

// From the end: most are asked for just after they came.
std::deque<RunQueue::Waiting>::iterator RunQueue::find(TenantState& state, const RunId& id) {
  const auto found = std::find_if(state.waiting.rbegin(), state.waiting.rend(),
                                  [&](const Waiting& waiting) { return waiting.id == id; });
  return std::prev(found.base());
}

TenantLimits RunQueue::limits_of(const std::string& tenant) const {
  const auto limits = tenant_limits_.find(tenant);
  return limits == tenant_limits_.end() ? TenantLimits{} : limits->second;
}

// How many more runs of the tenant could start now, if nobody else's did.
std::size_t RunQueue::free_slots(const std::string& tenant) const {
  const std::size_t own_max =
      std::min(limits_of(tenant).alive_max.value_or(unlimited),
               keeps_room_from(tenant) ? (limits_.alive_max + 1) / 2 : limits_.alive_max);
  return std::min(left(limits_.alive_max, alive_), left(own_max, alive(tenant)));
}

bool RunQueue::keeps_room_from(const std::string& tenant) const {
  return came_.size() > (came_.contains(tenant) ? 1U : 0U);
}

void RunQueue::forget_who_came_before(Time time) {
  std::erase_if(came_, [&](const auto& each) { return each.second < time; });
}

Result<void> RunQueue::check_bytes(const std::string& tenant, std::size_t more) const {
  if (more > left(limits_.queued_bytes_max, bytes_))
    return too_busy("the queue is full (" + std::to_string(limits_.queued_bytes_max) +
                    " bytes of input)");
  const std::size_t own_max = limits_of(tenant).queued_bytes_max.value_or(unlimited);
  const TenantState* state = find(tenant);
  if (more > left(own_max, state == nullptr ? 0 : state->bytes))
    return too_busy("the queue of tenant '" + tenant + "' is full (" + std::to_string(own_max) +
                    " bytes of input)");
  return {};
}

const RunQueue::TenantState* RunQueue::find(const std::string& tenant) const {
  const auto state = tenants_.find(tenant);
  return state == tenants_.end() ? nullptr : &state->second;
}

}  // namespace paddock::supervisor
