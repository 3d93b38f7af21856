#pragma once
// RunQueue: which run starts next, and who has to wait or is sent away. It knows runs by their ids
// and tenants by their names, and starts nothing.
//
// Each tenant waits in a queue of its own. A free slot goes to the tenant with the fewest live runs
// and, among equals, to the one that has waited longest: since it came, or since its last run was
// started. So a tenant that floods its queue delays nobody but itself. Where room is kept, it
// leaves half of the slots free for whoever has come lately, too: who comes again then neither
// waits for a slot, nor shares the processors with all that one tenant may have alive.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/base/error.hpp"
#include "supervisor/runs/run_record.hpp"

namespace paddock::supervisor {

// For all tenants together.
struct RunQueueLimits {
  std::size_t alive_max = 64;
  std::size_t queued_max = 256;
  std::size_t queued_bytes_max = 256u
                                 << 20;    // of the input and argv of runs that have no process yet
  std::chrono::milliseconds room_kept{0};  // after a tenant's last one came; 0: none is kept
};

// For one tenant; absent: no other limit than that of all together.
struct TenantLimits {
  std::optional<std::size_t> alive_max{};
  std::optional<std::size_t> queued_max{};
  std::optional<std::size_t> queued_bytes_max{};

  bool operator==(const TenantLimits&) const = default;
};

class RunQueue {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RunQueue(RunQueueLimits limits) : limits_(limits) {}

  // By tenant. Whoever is over a new limit keeps what it has.
  void set_tenant_limits(std::map<std::string, TenantLimits> limits);

  // Puts a run at the end of its tenant's queue, where it is held until release(): neither it nor
  // what comes after it is taken before. Fails with too_busy if a limit is reached; what could
  // start at once does not count as waiting.
  kernel::Result<void> push(const RunId& id, const std::string& tenant, std::size_t bytes,
                            Time now = std::chrono::steady_clock::now());
  void release(const RunId& id);

  // Takes a run that was just pushed, if it need not wait and overtakes nobody.
  bool take_at_once(const RunId& id);

  // A run that has no process yet has got more input. Fails with too_busy if there is no room for
  // it.
  kernel::Result<void> grow(const RunId& id, std::size_t bytes);

  // The run that starts now: it is alive from here on. None if nobody waits who may start.
  std::optional<RunId> take(Time now = std::chrono::steady_clock::now());

  // A taken run has a process, and its input is no longer held for it.
  void started(const RunId& id);

  // The run waits no more, or is no longer alive. Does nothing for an unknown one.
  void remove(const RunId& id);

  std::vector<RunId> waiting() const;  // in the order in which they came
  std::size_t alive() const { return alive_; }
  std::size_t queued() const { return queued_; }
  std::size_t alive(const std::string& tenant) const;
  std::size_t queued(const std::string& tenant) const;

 private:
  struct Waiting {
    RunId id;
    std::uint64_t ticket;
    bool is_held = true;
  };
  struct TenantState {
    // Of the first in its queue, or since its turn before that one.
    std::uint64_t waits_since() const { return std::max(waiting.front().ticket, last_turn); }

    std::deque<Waiting> waiting;
    std::uint64_t last_turn = 0;
    std::size_t bytes = 0;  // of those that have no process yet
    std::size_t alive = 0;
  };
  struct Place {
    std::string tenant;
    bool is_alive = false;
    std::size_t bytes = 0;
  };

  void take(TenantState& state, std::deque<Waiting>::iterator run);
  std::deque<Waiting>::iterator find(TenantState& state, const RunId& id);
  TenantLimits limits_of(const std::string& tenant) const;
  std::size_t free_slots(const std::string& tenant) const;
  bool keeps_room_from(const std::string& tenant) const;
  void forget_who_came_before(Time time);
  kernel::Result<void> check_bytes(const std::string& tenant, std::size_t more) const;
  const TenantState* find(const std::string& tenant) const;

  RunQueueLimits limits_;
  std::map<std::string, TenantLimits> tenant_limits_;
  std::map<std::string, TenantState> tenants_;  // those that have a run
  std::map<std::string, Time> came_;            // where room is kept
  std::map<RunId, Place> places_;
  std::uint64_t last_ticket_ = 0;  // counts what comes and what starts
  std::size_t alive_ = 0;
  std::size_t queued_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace paddock::supervisor
