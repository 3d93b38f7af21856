#pragma once
// RunTable owns every run of the daemon: the queue, the live ones, and the finished ones that are
// still remembered. Admission, order and forgetting are decided here and nowhere else.

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "kernel/run/sandbox.hpp"
#include "supervisor/loop/timer.hpp"
#include "supervisor/runs/live_run.hpp"
#include "supervisor/runs/run_record.hpp"

namespace paddock::supervisor {

struct RunTableLimits {
  std::size_t alive_max = 64;
  std::size_t queued_max = 256;
  std::size_t queued_bytes_max = 256u << 20;  // of the input and argv of runs in the queue
  std::size_t finished_max = 1000;
  std::size_t finished_bytes_max = 256u << 20;  // of their output and argv
  std::size_t stdin_pending_bytes_max = 16u << 20;
};

// A request that was checked and resolved: it only has to be started.
struct ResolvedRun {
  kernel::SandboxPolicy policy;
  std::vector<std::string> argv;
  std::string cwd;
  std::string agent;
  std::string tenant;
  std::string stdin_bytes;
  bool stdin_open = false;
};

// Who wants to hear of one run. Each may be empty. Called from the loop, never from within
// submit().
struct RunObserver {
  std::function<void(const RunRecord&)> on_started;  // the gate is open
  std::function<void(kernel::Stream, std::string_view)> on_output;
  std::function<void(const RunRecord&)> on_finished;  // once, whatever happens
};

using ObserverId = std::uint64_t;

class RunTable {
 public:
  // `sandbox` outlives the table.
  RunTable(uv_loop_t* loop, const kernel::Sandbox& sandbox, RunTableLimits limits);
  ~RunTable();  // kills what is alive, at once
  RunTable(const RunTable&) = delete;
  RunTable& operator=(const RunTable&) = delete;

  // Queues a run; it starts on a later turn of the loop. Fails with too_busy if there is room
  // neither among the live runs nor in the queue (by count or by bytes), and with draining after
  // drain().
  kernel::Result<RunId> submit(ResolvedRun run, RunObserver observer);

  const RunRecord* find(const RunId& id) const;  // valid until the next turn of the loop
  std::vector<const RunRecord*> list() const;    // newest first

  // Adds an observer to a run; nullopt if it is finished or unknown. A client that no longer waits
  // takes its observer away: a run may live for weeks.
  std::optional<ObserverId> observe(const RunId& id,
                                    std::function<void(const RunRecord&)> on_finished);
  void unobserve(const RunId& id, ObserverId observer);

  // Asks a run to stop: TERM, grace, KILL. Fails with not_found. A finished run stays as it is.
  kernel::Result<void> stop(const RunId& id,
                            kernel::Cause cause = kernel::Cause::killed_by_request);

  // Stops or goes on reading the output of a live run: for a stream whose client cannot take more.
  void pause_output(const RunId& id, bool paused);

  // More input for a run with stdin_open. Fails with not_found, with invalid_request if its input
  // is closed already, and with too_busy if it has not read what it got.
  kernel::Result<void> write_stdin(const RunId& id, std::string_view bytes, bool close);

  // No more runs: queued ones end as `shutdown`, live ones may finish until `deadline` and are
  // stopped then. `on_drained` is called from the loop when none is left.
  void drain(std::chrono::milliseconds deadline, std::function<void()> on_drained);
  void stop_all(kernel::Cause cause);  // as stop()
  void kill_all(kernel::Cause cause);  // without TERM and grace

  bool draining() const { return draining_; }
  std::size_t alive() const { return alive_.size(); }
  std::size_t queued() const { return queue_.size(); }

 private:
  struct Entry {
    RunRecord record;
    ResolvedRun request;
    std::map<ObserverId, RunObserver> observers;
    kernel::Clock::time_point submitted_at;
    bool announced = false;  // on_started was called
    bool stdin_closed = false;
    std::unique_ptr<LiveRun> live;
  };

  void schedule_pump();
  void pump();
  void start(Entry& entry);
  void changed(const RunId& id);
  void announce(Entry& entry);
  void finish(Entry& entry, kernel::SandboxResult result);
  void forget_old();
  void bury_strays();
  void check_drained();
  std::size_t queued_bytes() const;
  Entry* entry(const RunId& id);

  uv_loop_t* loop_;
  const kernel::Sandbox& sandbox_;
  RunTableLimits limits_;
  std::map<RunId, std::unique_ptr<Entry>> entries_;
  std::deque<RunId> queue_;
  // With its launcher. Not the other way round: when a launcher has been reaped, its run still
  // drains its output, and the next launcher may get the same pid.
  std::map<RunId, pid_t> alive_;
  std::deque<RunId> finished_;  // oldest first
  std::size_t finished_bytes_ = 0;
  ObserverId last_observer_ = 0;
  std::list<RunId> order_;  // as submitted
  Timer pump_timer_;
  Timer stray_timer_;
  Timer drain_timer_;
  bool draining_ = false;
  std::function<void()> on_drained_;
};

}  // namespace paddock::supervisor
