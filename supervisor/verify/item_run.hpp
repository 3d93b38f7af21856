#pragma once
// ItemRun: one run that has a part in judging an item, from the wish to its end. Where the run
// table has no room at the moment it asks again, for a while.
//
// It is over before its end is on record: whoever makes something of it commits that, which comes
// after it, and tells nobody before.

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "supervisor/loop/timer.hpp"
#include "supervisor/runs/run_table.hpp"
#include "supervisor/verify/output_tail.hpp"
#include "supervisor/verify/verdict_of_run.hpp"

namespace paddock::supervisor {

constexpr std::chrono::milliseconds room_interval{50};
constexpr std::chrono::milliseconds room_patience{60'000};

class ItemRun {
 public:
  // `on_slot`: once, or never, and maybe from within start(): id() is known. The others are called
  // from the loop: `on_begun` when its gate is open, once, or never; `on_over` once, whatever
  // happens; the run is known by then, or it never was, and fault() says why.
  using OnSlot = std::function<void()>;
  using OnBegun = std::function<void()>;
  using OnOver = std::function<void()>;

  // `runs` outlives this; this is there until it is over, unless no loop turns any more.
  ItemRun(uv_loop_t* loop, RunTable& runs) : runs_(runs), timer_(loop), stop_timer_(loop) {}
  ItemRun(const ItemRun&) = delete;
  ItemRun& operator=(const ItemRun&) = delete;

  void start(ResolvedRun run, OnSlot on_slot, OnOver on_over, OnBegun on_begun = {});

  // Ends it: nothing is to come of it any more. Does nothing to one that is over.
  void stop(const std::string& reason);
  void stop_after(std::chrono::milliseconds time, const std::string& reason);

  bool was_started() const { return is_started_; }
  bool is_over() const { return is_over_; }

  const RunId& id() const { return id_; }  // empty: the table never had it
  const std::optional<Fault>& fault() const { return fault_; }
  const std::optional<kernel::SandboxResult>& result() const { return result_; }
  std::optional<EndedRun> end() const;  // of one that is over and has no fault
  const std::vector<std::string>& degraded() const { return degraded_; }
  const std::string& cold_because() const { return cold_because_; }
  std::string stdout_tail() const { return stdout_.text(); }
  std::string stderr_tail() const { return stderr_.text(); }

 private:
  void submit();
  void ended(const RunRecord& run, const kernel::SandboxResult& result);
  void give_up(const kernel::Error& error);
  void over_soon(Fault fault);
  void over();

  RunTable& runs_;
  Timer timer_;
  Timer stop_timer_;
  std::optional<ResolvedRun> waiting_;  // for room
  kernel::Clock::time_point asked_at_;
  OnSlot on_slot_;
  OnOver on_over_;
  OnBegun on_begun_;
  bool is_started_ = false;
  bool is_over_ = false;
  std::optional<std::string> stop_reason_;
  RunId id_;
  std::optional<Fault> fault_;
  std::optional<kernel::SandboxResult> result_;
  std::vector<std::string> degraded_;
  std::string cold_because_;
  OutputTail stdout_;
  OutputTail stderr_;
};

}  // namespace paddock::supervisor
