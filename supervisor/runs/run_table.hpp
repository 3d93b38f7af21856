#pragma once
// RunTable owns every run of the daemon: those that wait, the live ones, and the finished ones that
// are still remembered. RunQueue decides on admission and order, RunTable on forgetting.
//
// A run goes on only when the ledger has it:
//
//   submit --> admitting --------> queued --> starting --> ready --> alive --> ended --> finished
//              (run.queued)                (run.starting)       (run.running)   (run.finished)
//                 a slot is free: --------^
//
// A run that is beside_slots needs none: it is `starting` as soon as it is submitted.
//
// Nobody hears of it before its first commit, no process exists before the one of run.starting, and
// nobody hears of its end before the one of run.finished, or a patience that has run out; but who
// records something that comes of the end, and waits for that, may hear of it before (on_ended).

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "kernel/run/sandbox.hpp"
#include "supervisor/ledger/recorder.hpp"
#include "supervisor/loop/timer.hpp"
#include "supervisor/runs/drain.hpp"
#include "supervisor/runs/live_run.hpp"
#include "supervisor/runs/outcomes.hpp"
#include "supervisor/runs/output_digests.hpp"
#include "supervisor/runs/policy_texts.hpp"
#include "supervisor/runs/resolved_run.hpp"
#include "supervisor/runs/run_queue.hpp"
#include "supervisor/runs/run_record.hpp"
#include "supervisor/runs/run_table_observer.hpp"
#include "supervisor/runs/stray_watch.hpp"

namespace paddock::supervisor {

struct RunTableLimits {
  std::size_t alive_max = 64;
  std::size_t queued_max = 256;
  std::size_t queued_bytes_max = 256u << 20;  // of the input and argv of runs in the queue
  std::size_t finished_max = 1000;
  std::size_t finished_bytes_max = 256u << 20;  // of their output and argv
  std::size_t stdin_pending_bytes_max = 16u << 20;
};

// Who wants to hear of one run. Each may be empty. Called from the loop, never from within
// submit().
struct RunObserver {
  std::function<void(const RunRecord&)> on_started;  // the gate is open
  std::function<void(kernel::Stream, std::string_view)> on_output;
  std::function<void(const RunRecord&)> on_finished;  // once, whatever happens to an accepted run
  // Exactly one of the two, before anything else: the ledger has the run, or cannot take it, and
  // then nothing ran and the table does not know it any more.
  std::function<void(const RunRecord&)> on_accepted{};
  std::function<void(const kernel::Error&)> on_refused{};
  // Once, before on_started: it has left the queue and starts next, so its companion may start too.
  // It may end without a process all the same: on_finished comes in any case. Not of one that had
  // its slot when submit() returned: see has_slot().
  std::function<void(const RunRecord&)> on_slot{};
  // Once, before on_finished, of each run that was accepted: its process is gone, or never was, and
  // its outcome is on its way to the ledger, which may not have it yet. For who records something
  // that comes of it: what is committed now comes after the outcome. Anybody else is told in
  // on_finished. The record has no result yet.
  std::function<void(const RunRecord&, const kernel::SandboxResult&)> on_ended{};
};

using ObserverId = std::uint64_t;

class RunTable {
 public:
  // `sandbox`, `recorder`, `observer` and `warm` outlive the table. Without `warm` each run is
  // cold.
  RunTable(uv_loop_t* loop, const kernel::Sandbox& sandbox, Recorder& recorder,
           RunTableLimits limits, RunTableObserver* observer = nullptr, WarmSource* warm = nullptr);
  ~RunTable();  // kills what is alive, at once, and leaves the outcomes to the recorder
  RunTable(const RunTable&) = delete;
  RunTable& operator=(const RunTable&) = delete;

  // Takes a run in; it is recorded and starts on later turns of the loop. Fails with too_busy if
  // there is room neither among the live runs nor in the queue (by count or by bytes), with
  // draining after drain(), and with not_recorded while the ledger cannot be written. One that is
  // beside_slots needs no room, and is taken until a drain is over: its candidate may still run.
  // `run` is as it was if that fails.
  kernel::Result<RunId> submit(ResolvedRun&& run, RunObserver observer);

  // Whether it need not wait any more: it starts as soon as the ledger has that, or has started.
  // What is submitted in the same turn as a run that has its slot is recorded with the same commit.
  bool has_slot(const RunId& id) const;

  const RunRecord* find(const RunId& id) const;  // valid until the next turn of the loop
  std::vector<const RunRecord*> list() const;    // those that were accepted, newest first

  // Adds an observer to a run; nullopt if it is finished or unknown. A client that no longer waits
  // takes its observer away: a run may live for weeks.
  std::optional<ObserverId> observe(const RunId& id,
                                    std::function<void(const RunRecord&)> on_finished);
  void unobserve(const RunId& id, ObserverId observer);

  // Asks a run to stop: TERM, grace, KILL; one that has no process yet gets none. Fails with
  // not_found. A finished run stays as it is. `reason`: why the daemon does that of its own accord,
  // for people; empty: it was asked to.
  kernel::Result<void> stop(const RunId& id, kernel::Cause cause = kernel::Cause::killed_by_request,
                            const std::string& reason = {});

  // Stops or goes on reading the output of a live run: for a stream whose client cannot take more.
  void pause_output(const RunId& id, bool paused);

  // See kernel::Run. Fails with not_found if it has no process.
  kernel::Result<void> freeze(const RunId& id);
  void thaw(const RunId& id);
  std::optional<kernel::RunUsage> usage(const RunId& id);  // until now; nothing without a process

  // More input for a run with stdin_open. Fails with not_found, with invalid_request if its input
  // is closed already, and with too_busy if it has not read what it got.
  kernel::Result<void> write_stdin(const RunId& id, std::string_view bytes, bool close);

  // No more runs: queued ones end as `shutdown`, live ones and those beside_slots may finish until
  // `deadline` and are stopped then. `on_drained` is called from the loop when none is left and
  // each outcome is in the ledger, or the patience for that has run out; or when the drain is
  // cancelled. See Drain.
  void drain(std::chrono::milliseconds deadline, DrainUntil until, OnDrained on_drained);
  kernel::Result<void> undrain();
  void stop_all(kernel::Cause cause);  // as stop()
  void kill_all(kernel::Cause cause);  // without TERM and grace

  // By tenant. Whoever is over a new limit keeps what it has.
  void set_tenant_limits(std::map<std::string, TenantLimits> limits);

  bool draining() const { return drain_.is_on(); }
  // With a process, and without one yet; of all, or of one tenant.
  std::size_t alive() const { return alive_.size(); }
  std::size_t queued() const { return queue_.queued() + queue_.alive() + beside_.size() - alive(); }
  std::size_t alive(const std::string& tenant) const;
  std::size_t queued(const std::string& tenant) const;

 private:
  // What a run that is not finished waits for.
  enum class Stage {
    admitting,  // the commit of run.queued
    queued,     // a slot
    starting,   // the commit of run.starting
    ready,      // its turn
    alive,      // its end
    doubtful,   // the end of its zygote, if that was it
    ended,      // the commit of run.finished
  };
  struct Entry {
    RunRecord record;
    ResolvedRun request;               // its argv is in `record`, unless that shows another one
    std::list<RunId>::iterator place;  // in order_
    Stage stage = Stage::admitting;
    bool accepted = false;                    // its first transition is committed
    std::optional<kernel::Cause> stop_cause;  // to be stopped as soon as its commit is done
    std::string stop_reason{};
    std::map<ObserverId, RunObserver> observers;
    kernel::Clock::time_point submitted_at;
    bool announced = false;  // on_started was called
    bool is_end_told = false;
    bool stdin_closed = false;
    std::unique_ptr<LiveRun> live;
    // `live` is a fork whose gate is closed. If it ends so, it has not run, and starts again: its
    // input is kept until then.
    bool is_trial = false;
    bool used_network = true;  // of a fork that has ended, unless it is known better
    OutputDigests digests{};   // of what `live` has written
    std::optional<kernel::SandboxResult> result;  // of one that has ended, or is doubtful
    std::unique_ptr<Timer> doubt_timer{};
    kernel::Clock::time_point doubted_until{};
    bool is_canary = false;
    std::optional<kernel::Clock::time_point> stop_asked_at;
    std::optional<RunTableObserver::Seconds> kill_time;  // of one that has ended
  };
  using Committed = kernel::Result<std::uint64_t>;

  kernel::Result<void> check_open(const ResolvedRun& run) const;
  kernel::Result<RunId> take_place(const ResolvedRun& run);
  void admit(Entry& entry);
  void admitted(const RunId& id, const Committed& committed);
  void refuse(const RunId& id, const kernel::Error& error);
  void start_recorded(const RunId& id, const Committed& committed);
  void schedule_pump();
  void pump();
  void get_ready(Entry& entry);
  void start(Entry& entry);
  static const std::vector<std::string>& argv_of(const Entry& entry);
  bool start_warm(Entry& entry);
  void start_cold(Entry& entry);
  void start_again(Entry& entry);
  void stopped_before_gate(const Entry& entry, const kernel::SandboxResult& result);
  kernel::RunOptions options_of(Entry& entry, std::string stdin_bytes);
  void go_live(Entry& entry, std::unique_ptr<kernel::Run> run);
  void pass_gate(Entry& entry);
  void doubt(Entry& entry, kernel::SandboxResult result);
  void ask_for_zygote(Entry& entry);
  void changed(const RunId& id);
  void tell_slot(const Entry& entry);
  void announce(Entry& entry);
  void finish(Entry& entry, kernel::SandboxResult result);
  void tell_ends();
  void tell_end(Entry& entry);
  void settled(const RunId& id, bool recorded);
  void forget_old();
  void forget(const RunId& id);
  void check_drained();
  std::vector<RunId> without_process() const;
  Entry* entry(const RunId& id);
  bool is_launcher(pid_t pid) const;

  uv_loop_t* loop_;
  const kernel::Sandbox& sandbox_;
  Recorder& recorder_;
  RunTableLimits limits_;
  RunTableObserver* observer_;
  WarmSource* warm_;
  std::unordered_map<RunId, std::shared_ptr<Entry>> entries_;  // shared with who tells observers
  PolicyTexts policy_texts_;
  RunQueue
      queue_;  // of those that have not ended; those that are starting or ready are alive to it
  std::set<RunId> beside_;  // the rest of those that have not ended: they take no slot
  std::deque<RunId> ready_;
  std::vector<std::shared_ptr<Entry>> ended_;  // since the last turn: their observers do not know
  // With its launcher. Not the other way round: when a launcher has been reaped, its run still
  // drains its output, and the next launcher may get the same pid.
  std::map<RunId, pid_t> alive_;
  std::deque<RunId> finished_;  // oldest first
  std::size_t finished_bytes_ = 0;
  ObserverId last_observer_ = 0;
  std::list<RunId> order_;  // as submitted
  Timer pump_timer_;
  Timer unwritten_timer_;
  StrayWatch strays_;
  Outcomes outcomes_;
  Drain drain_;
};

}  // namespace paddock::supervisor
