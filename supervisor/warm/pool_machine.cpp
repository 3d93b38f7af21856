#include "supervisor/warm/pool_machine.hpp"

#include <algorithm>

namespace paddock::supervisor {

std::string_view name_of(ZygoteState state) {
  switch (state) {
    case ZygoteState::starting:
      return "starting";
    case ZygoteState::ready:
      return "ready";
    case ZygoteState::busy:
      return "busy";
    case ZygoteState::ending:
      return "ending";
  }
  return "ending";
}

std::string_view name_of(ZygoteEnd end) {
  switch (end) {
    case ZygoteEnd::idle:
      return "idle";
    case ZygoteEnd::runs:
      return "runs";
    case ZygoteEnd::memory:
      return "memory";
    case ZygoteEnd::evicted:
      return "evicted";
    case ZygoteEnd::renewed:
      return "renewed";
    case ZygoteEnd::not_ready:
      return "not_ready";
    case ZygoteEnd::no_answer:
      return "no_answer";
    case ZygoteEnd::lost_run:
      return "lost_run";
    case ZygoteEnd::died:
      return "died";
  }
  return "died";
}

// ---- Runs --------------------------------------------------------------------------------------

PoolMachine::Choice PoolMachine::run_wants(const RunId& run, const ZygoteKind& name,
                                           const ZygoteLimits& limits, Time now) {
  if (!kinds_.contains(name) && !make_room_for_kind())
    return {.zygote = std::nullopt, .cold_because = "there are too many kinds of zygotes in use"};
  if (limits_.zygotes_max == 0)
    return {.zygote = std::nullopt, .cold_because = "there are no host_uids to spare for zygotes"};
  Kind& kind = kinds_[name];
  kind.limits = limits;
  kind.used_at = now;
  Run& wanting = runs_[run];
  wanting.kind = name;
  // The one whose last run is the shortest time ago: its memory is warm, and others become idle.
  std::map<ZygoteName, Zygote>::iterator chosen = zygotes_.end();
  for (auto at = zygotes_.begin(); at != zygotes_.end(); ++at) {
    const Zygote& zygote = at->second;
    if (zygote.kind != name || zygote.state != ZygoteState::ready || reason_to_end(zygote, now))
      continue;
    if (chosen == zygotes_.end() || zygote.since > chosen->second.since) chosen = at;
  }
  if (chosen == zygotes_.end())
    return {.zygote = std::nullopt, .cold_because = "no zygote is ready"};
  chosen->second.state = ZygoteState::busy;
  chosen->second.since = now;
  chosen->second.has_answered = false;
  ++chosen->second.forks;
  wanting.zygote = chosen->first;
  return {.zygote = chosen->first};
}

// It goes on as a cold one, so that as many zygotes are wanted as before.
void PoolMachine::run_is_cold(const RunId& run, std::optional<ZygoteEnd> zygote_is) {
  const auto at = runs_.find(run);
  if (at == runs_.end() || !at->second.zygote) return;
  const auto zygote = zygotes_.find(*std::exchange(at->second.zygote, std::nullopt));
  if (zygote == zygotes_.end() || zygote->second.state != ZygoteState::busy) return;
  zygote->second.state = ZygoteState::ready;
  if (zygote_is && !zygote->second.shall_end) zygote->second.shall_end = zygote_is;
}

void PoolMachine::run_is_lost(const RunId& run, bool by_itself) {
  const auto at = runs_.find(run);
  if (at == runs_.end() || !at->second.zygote) return;
  const auto zygote = zygotes_.find(*at->second.zygote);
  if (zygote == zygotes_.end()) return;
  if (by_itself) ++zygote->second.losses;
  const bool is_suspect = zygote->second.losses >= zygote_losses_max;
  run_is_cold(run, is_suspect ? std::optional(ZygoteEnd::lost_run) : std::nullopt);
}

void PoolMachine::gate_opened(const RunId& run) {
  const auto at = runs_.find(run);
  if (at == runs_.end()) return;
  kinds_.at(at->second.kind).failures = 0;
  const auto zygote = at->second.zygote ? zygotes_.find(*at->second.zygote) : zygotes_.end();
  if (zygote == zygotes_.end()) return;
  zygote->second.has_answered = true;
  zygote->second.is_good = true;
  zygote->second.losses = 0;
}

void PoolMachine::run_over(const RunId& run, Time now) {
  const auto at = runs_.find(run);
  if (at == runs_.end()) return;
  const auto zygote = at->second.zygote ? zygotes_.find(*at->second.zygote) : zygotes_.end();
  if (zygote != zygotes_.end() && zygote->second.state == ZygoteState::busy) {
    zygote->second.state = ZygoteState::ready;
    zygote->second.since = now;
  }
  runs_.erase(at);
}

// ---- Zygotes -----------------------------------------------------------------------------------

void PoolMachine::zygote_started(const ZygoteKind& kind, const ZygoteName& name, Time now) {
  --ordered_total_;
  if (--ordered_[kind] == 0) ordered_.erase(kind);
  zygotes_[name] = {.kind = kind, .state = ZygoteState::starting, .since = now};
}

void PoolMachine::zygote_not_started(const ZygoteKind& kind, Time now) {
  --ordered_total_;
  if (--ordered_[kind] == 0) ordered_.erase(kind);
  note_failure(kinds_.at(kind), now);
}

void PoolMachine::zygote_ready(const ZygoteName& name, Time now) {
  const auto at = zygotes_.find(name);
  if (at == zygotes_.end() || at->second.state != ZygoteState::starting) return;
  at->second.state = ZygoteState::ready;
  at->second.since = now;
}

void PoolMachine::zygote_weighed(const ZygoteName& name, std::uint64_t bytes) {
  const auto at = zygotes_.find(name);
  if (at == zygotes_.end()) return;
  at->second.bytes = bytes;
  at->second.forks_weighed = at->second.forks;
}

bool PoolMachine::zygote_gone(const ZygoteName& name, Time now) {
  const auto at = zygotes_.find(name);
  if (at == zygotes_.end()) return false;
  const bool was_ordered = at->second.state == ZygoteState::ending;
  if (!was_ordered && !at->second.is_good) note_failure(kinds_.at(at->second.kind), now);
  for (auto& [id, run] : runs_)
    if (run.zygote == name) run.zygote.reset();
  zygotes_.erase(at);
  return !was_ordered;
}

void PoolMachine::note_failure(Kind& kind, Time now) {
  std::chrono::milliseconds wait = zygote_back_off_first;
  for (std::size_t i = 0; i < kind.failures && wait < zygote_back_off_most; ++i) wait *= 2;
  ++kind.failures;
  kind.not_before = now + std::min(wait, zygote_back_off_most);
}

void PoolMachine::renew() {
  for (auto& [name, zygote] : zygotes_) {
    if (zygote.state != ZygoteState::ending && !zygote.shall_end)
      zygote.shall_end = ZygoteEnd::renewed;
  }
  for (auto& [name, kind] : kinds_) {
    kind.failures = 0;  // what kept them from starting may be mended
    kind.not_before.reset();
  }
}

// ---- Decisions ---------------------------------------------------------------------------------

std::size_t PoolMachine::most_of(const Kind& kind) const {
  return kind.limits.zygotes == 0 ? limits_.slots : kind.limits.zygotes;
}

bool PoolMachine::is_worn(const Zygote& zygote) const {
  const std::size_t runs = kinds_.at(zygote.kind).limits.runs;
  return zygote.forks + std::min(zygote_replaced_ahead, runs / 8) >= runs;
}

std::optional<ZygoteEnd> PoolMachine::reason_to_end(const Zygote& zygote, Time now) const {
  const ZygoteLimits& limits = kinds_.at(zygote.kind).limits;
  const auto lasted = now - zygote.since;
  switch (zygote.state) {
    case ZygoteState::starting:
      if (zygote.shall_end) return zygote.shall_end;
      if (lasted >= zygote_ready_time_max) return ZygoteEnd::not_ready;
      break;
    case ZygoteState::ready:
      if (zygote.shall_end) return zygote.shall_end;
      if (zygote.forks >= limits.runs) return ZygoteEnd::runs;
      if (zygote.bytes > limits.memory_bytes) return ZygoteEnd::memory;
      if (lasted >= limits.idle) return ZygoteEnd::idle;
      break;
    case ZygoteState::busy:
      if (!zygote.has_answered && lasted >= zygote_answer_time_max) return ZygoteEnd::no_answer;
      break;
    case ZygoteState::ending:
      break;
  }
  return std::nullopt;
}

// When a reason may come up by itself.
std::optional<PoolMachine::Time> PoolMachine::time_of(const Zygote& zygote) const {
  switch (zygote.state) {
    case ZygoteState::starting:
      return zygote.since + zygote_ready_time_max;
    case ZygoteState::ready:
      return zygote.since + kinds_.at(zygote.kind).limits.idle;
    case ZygoteState::busy:
      if (zygote.has_answered) return std::nullopt;
      return zygote.since + zygote_answer_time_max;
    case ZygoteState::ending:
      break;
  }
  return std::nullopt;
}

void PoolMachine::end(const ZygoteName& name, ZygoteEnd why, Time now, std::vector<Order>& orders) {
  Zygote& zygote = zygotes_.at(name);
  const bool is_failure =
      why == ZygoteEnd::not_ready || why == ZygoteEnd::no_answer || why == ZygoteEnd::lost_run;
  if (is_failure && !zygote.is_good) note_failure(kinds_.at(zygote.kind), now);
  zygote.state = ZygoteState::ending;
  zygote.since = now;
  orders.push_back({.what = Order::What::end, .kind = zygote.kind, .zygote = name, .why = why});
}

bool PoolMachine::wants_more(const ZygoteKind& name, const Kind& kind) const {
  const auto is_of_kind = [&](const auto& run) { return run.second.kind == name; };
  const auto wanted =
      static_cast<std::size_t>(std::count_if(runs_.begin(), runs_.end(), is_of_kind));
  const auto ordered = ordered_.find(name);
  std::size_t there = ordered == ordered_.end() ? 0 : ordered->second;
  for (const auto& [zygote_name, zygote] : zygotes_)
    if (zygote.kind == name && zygote.state != ZygoteState::ending && !zygote.shall_end &&
        !is_worn(zygote))
      ++there;
  return there < std::min(wanted, most_of(kind));
}

std::optional<ZygoteName> PoolMachine::least_used(const ZygoteKind& but_not, Time now) const {
  std::optional<ZygoteName> found;
  for (const auto& [name, zygote] : zygotes_) {
    if (zygote.kind == but_not || zygote.state != ZygoteState::ready ||
        now - zygote.since < zygote_evicted_after)
      continue;
    if (!found || zygote.since < zygotes_.at(*found).since) found = name;
  }
  return found;
}

std::vector<PoolMachine::Order> PoolMachine::decide(Time now) {
  std::vector<Order> orders;
  for (const auto& [name, zygote] : zygotes_)
    if (const auto why = reason_to_end(zygote, now)) end(name, *why, now, orders);
  for (const auto& [name, kind] : kinds_) {
    while (wants_more(name, kind) && starting() < limits_.starting_max &&
           (!kind.not_before || now >= *kind.not_before)) {
      if (zygotes_.size() + ordered_total_ >= limits_.zygotes_max) {
        // One place at a time: when it is free, this is asked again.
        if (count(ZygoteState::ending) > 0) break;
        const auto victim = least_used(name, now);
        if (victim) end(*victim, ZygoteEnd::evicted, now, orders);
        break;
      }
      ++ordered_[name];
      ++ordered_total_;
      orders.push_back({.what = Order::What::start, .kind = name});
    }
  }
  return orders;
}

std::optional<PoolMachine::Time> PoolMachine::next_time(Time now) const {
  std::optional<Time> next;
  const auto note = [&](const std::optional<Time>& time) {
    if (time) next = next ? std::min(*next, *time) : *time;
  };
  for (const auto& [name, zygote] : zygotes_) note(time_of(zygote));
  for (const auto& [name, kind] : kinds_)
    if (kind.not_before && *kind.not_before > now && wants_more(name, kind)) note(kind.not_before);
  return next;
}

// Of those that are not used now the one that has not been used for the longest time is forgotten.
bool PoolMachine::make_room_for_kind() {
  if (kinds_.size() < zygote_kinds_max) return true;
  auto oldest = kinds_.end();
  for (auto at = kinds_.begin(); at != kinds_.end(); ++at) {
    const auto is_of_kind = [&](const auto& entry) { return entry.second.kind == at->first; };
    if (ordered_.contains(at->first) || std::any_of(zygotes_.begin(), zygotes_.end(), is_of_kind) ||
        std::any_of(runs_.begin(), runs_.end(), is_of_kind))
      continue;
    if (oldest == kinds_.end() || at->second.used_at < oldest->second.used_at) oldest = at;
  }
  if (oldest == kinds_.end()) return false;
  kinds_.erase(oldest);
  return true;
}

// ---- What there is -----------------------------------------------------------------------------

std::vector<ZygoteName> PoolMachine::to_be_weighed() const {
  std::vector<ZygoteName> names;
  for (const auto& [name, zygote] : zygotes_)
    if (zygote.state == ZygoteState::ready && zygote.forks > zygote.forks_weighed)
      names.push_back(name);
  return names;
}

std::size_t PoolMachine::count(ZygoteState state) const {
  return static_cast<std::size_t>(
      std::count_if(zygotes_.begin(), zygotes_.end(),
                    [&](const auto& zygote) { return zygote.second.state == state; }));
}

std::optional<ZygoteName> PoolMachine::zygote_of(const RunId& run) const {
  const auto at = runs_.find(run);
  return at == runs_.end() ? std::nullopt : at->second.zygote;
}

ZygoteState PoolMachine::state_of(const ZygoteName& name) const {
  const auto at = zygotes_.find(name);
  return at == zygotes_.end() ? ZygoteState::ending : at->second.state;
}

}  // namespace paddock::supervisor
