#include "supervisor/runs/run_table.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "kernel/run/strays.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Cause;
using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using std::chrono::milliseconds;

// Started per turn of the loop: each start costs about a millisecond, and others are waiting.
constexpr int starts_per_turn = 8;
// How often to look for what escaped its launcher. There is hardly ever any.
constexpr milliseconds stray_interval{1000};

// A run that could not be started, as a result like any other.
kernel::SandboxResult result_of(const kernel::Error& error, const RunRecord& record) {
  kernel::SandboxResult result;
  result.exit_code = -1;
  result.cause =
      error.code == ErrorCode::sandbox_not_available ? Cause::cannot_isolate : Cause::internal;
  result.detail = error.message;
  result.profile = record.profile;
  result.policy_hash = record.policy_hash;
  return result;
}

kernel::SandboxResult never_started(Cause cause, const RunRecord& record) {
  kernel::SandboxResult result;
  result.exit_code = -9;
  result.cause = cause;
  result.killed = true;
  result.detail = "it was still in the queue";
  result.profile = record.profile;
  result.policy_hash = record.policy_hash;
  return result;
}

// What a finished run is remembered with, as far as clients and agents decide its size.
std::size_t bytes_of(const RunRecord& record) {
  std::size_t bytes = record.result->stdout.size() + record.result->stderr.size();
  for (const std::string& argument : record.argv) bytes += argument.size();
  return bytes;
}

// What a run that waits holds on to, as far as its client decides.
std::size_t bytes_of(const ResolvedRun& run) {
  std::size_t bytes = run.stdin_bytes.size();
  for (const std::string& argument : run.argv) bytes += argument.size();
  return bytes;
}

}  // namespace

RunTable::RunTable(uv_loop_t* loop, const kernel::Sandbox& sandbox, RunTableLimits limits)
    : loop_(loop),
      sandbox_(sandbox),
      limits_(limits),
      pump_timer_(loop),
      stray_timer_(loop),
      drain_timer_(loop) {}

RunTable::~RunTable() {
  for (const auto& [id, launcher] : alive_) {
    LiveRun& live = *entry(id)->live;
    live.run().abandon();
    live.refresh();
  }
  // A stray that the kernel cannot end (a hung disk) must not keep the daemon from ending.
  const auto give_up = kernel::Clock::now() + std::chrono::seconds(5);
  while (kernel::kill_strays([](pid_t) { return false; }) > 0 && kernel::Clock::now() < give_up)
    std::this_thread::sleep_for(milliseconds(1));
}

Result<RunId> RunTable::submit(ResolvedRun run, RunObserver observer) {
  if (draining_) return fail(ErrorCode::draining, "the daemon is shutting down");
  // Those that come in one turn of the loop are all in the queue, also if they need not wait there.
  if (alive_.size() + queue_.size() >= limits_.alive_max + limits_.queued_max)
    return fail(ErrorCode::too_busy, "the queue is full (" + std::to_string(limits_.queued_max) +
                                         " runs); try again later");
  if (queued_bytes() + bytes_of(run) > limits_.queued_bytes_max)
    return fail(ErrorCode::too_busy, "the queue is full (" +
                                         std::to_string(limits_.queued_bytes_max) +
                                         " bytes of input); try again later");
  auto entry = std::make_unique<Entry>();
  RunRecord& record = entry->record;
  record.id = make_run_id();
  record.profile = run.policy.profile;
  record.agent = run.agent;
  record.tenant = run.tenant;
  record.argv = run.argv;
  record.created_at = std::chrono::system_clock::now();
  record.policy_hash = kernel::policy_hash(run.policy);
  entry->stdin_closed = !run.stdin_open;
  entry->request = std::move(run);
  entry->observers[++last_observer_] = std::move(observer);
  entry->submitted_at = kernel::Clock::now();

  const RunId id = record.id;
  entries_[id] = std::move(entry);
  order_.push_front(id);
  queue_.push_back(id);
  schedule_pump();
  return id;
}

const RunRecord* RunTable::find(const RunId& id) const {
  const auto at = entries_.find(id);
  return at == entries_.end() ? nullptr : &at->second->record;
}

std::vector<const RunRecord*> RunTable::list() const {
  std::vector<const RunRecord*> records;
  for (const RunId& id : order_) records.push_back(find(id));
  return records;
}

std::optional<ObserverId> RunTable::observe(const RunId& id,
                                            std::function<void(const RunRecord&)> on_finished) {
  Entry* found = entry(id);
  if (found == nullptr || found->record.phase == RunPhase::finished) return std::nullopt;
  found->observers[++last_observer_] = {
      .on_started = {}, .on_output = {}, .on_finished = std::move(on_finished)};
  return last_observer_;
}

void RunTable::unobserve(const RunId& id, ObserverId observer) {
  if (Entry* found = entry(id)) found->observers.erase(observer);
}

Result<void> RunTable::stop(const RunId& id, Cause cause) {
  Entry* found = entry(id);
  if (found == nullptr) return fail(ErrorCode::not_found, "no run '" + id + "'");
  switch (found->record.phase) {
    case RunPhase::queued:
      std::erase(queue_, id);
      finish(*found, never_started(cause, found->record));
      break;
    case RunPhase::running:
      found->live->run().stop(cause);
      found->live->refresh();
      break;
    case RunPhase::finished:
      break;
  }
  return {};
}

void RunTable::pause_output(const RunId& id, bool paused) {
  Entry* found = entry(id);
  if (found == nullptr || !found->live) return;
  found->live->run().pause_output(paused);
  // Pausing happens inside an event of the run, after which it is refreshed anyway.
  if (!paused) found->live->refresh();
}

Result<void> RunTable::write_stdin(const RunId& id, std::string_view bytes, bool close) {
  Entry* found = entry(id);
  if (found == nullptr) return fail(ErrorCode::not_found, "no run '" + id + "'");
  if (found->stdin_closed || found->record.phase == RunPhase::finished)
    return fail(ErrorCode::invalid_request, "the input of run '" + id + "' is closed");
  const std::size_t pending =
      found->live ? found->live->run().stdin_pending_bytes() : found->request.stdin_bytes.size();
  if (pending + bytes.size() > limits_.stdin_pending_bytes_max ||
      (!found->live && queued_bytes() + bytes.size() > limits_.queued_bytes_max))
    return fail(ErrorCode::too_busy, "run '" + id + "' has not read its input yet");
  found->stdin_closed = close;
  if (found->live) {
    found->live->run().write_stdin(bytes);
    if (close) found->live->run().close_stdin();
    found->live->refresh();
  } else {
    found->request.stdin_bytes += bytes;
    found->request.stdin_open = !close;
  }
  return {};
}

// ---- The queue ---------------------------------------------------------------------------------

void RunTable::schedule_pump() {
  if (!pump_timer_.is_running()) pump_timer_.start(milliseconds(0), [this] { pump(); });
}

void RunTable::pump() {
  for (int started = 0; started < starts_per_turn; ++started) {
    if (queue_.empty() || alive_.size() >= limits_.alive_max) return;
    const RunId id = queue_.front();
    queue_.pop_front();
    start(*entry(id));
  }
  schedule_pump();
}

void RunTable::start(Entry& started) {
  const RunId id = started.record.id;
  started.record.phase = RunPhase::running;
  started.record.queue_ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<milliseconds>(kernel::Clock::now() - started.submitted_at)
          .count());
  kernel::RunOptions options{
      .stdin_bytes = std::move(started.request.stdin_bytes),
      .stdin_stays_open = started.request.stdin_open,
      .on_output =
          [this, id](kernel::Stream stream, std::string_view bytes) {
            Entry& live = *entry(id);
            announce(live);  // a stream's first event is `started`
            for (const auto& [number, observer] : live.observers)
              if (observer.on_output) observer.on_output(stream, bytes);
          },
  };
  auto run = sandbox_.start(started.request.policy, started.request.argv, started.request.cwd, id,
                            std::move(options));
  if (!run) return finish(started, result_of(run.error(), started.record));
  started.record.degraded = (*run)->plan().degraded;
  alive_[id] = (*run)->launcher();
  started.live = std::make_unique<LiveRun>(loop_, std::move(*run), [this, id] { changed(id); });
  if (!stray_timer_.is_running()) stray_timer_.start(stray_interval, [this] { bury_strays(); });
}

// ---- Live runs ---------------------------------------------------------------------------------

void RunTable::changed(const RunId& id) {
  Entry& live = *entry(id);
  kernel::Run& run = live.live->run();
  if (!live.record.receipt && run.receipt()) live.record.receipt = run.receipt();
  if (run.started()) announce(live);
  if (!run.finished()) return;
  alive_.erase(id);
  kernel::SandboxResult result = run.take_result();
  live.live.reset();  // gives back the host uid, the cgroup and the workspace
  if (result.survivors_unproved || result.cause == Cause::tampered) bury_strays();
  finish(live, std::move(result));
}

void RunTable::announce(Entry& live) {
  if (std::exchange(live.announced, true)) return;
  live.record.receipt = live.live ? live.live->run().receipt() : live.record.receipt;
  for (const auto& [number, observer] : live.observers)
    if (observer.on_started) observer.on_started(live.record);
}

void RunTable::finish(Entry& finished, kernel::SandboxResult result) {
  RunRecord& record = finished.record;
  record.phase = RunPhase::finished;
  record.degraded = result.degraded;
  record.result = std::move(result);
  finished.request = {};
  finished_.push_back(record.id);
  finished_bytes_ += bytes_of(record);
  schedule_pump();
  // Observers may call back into the table: they get a copy, and the entry may be gone afterwards.
  const RunRecord copy = record;
  const auto observers = std::exchange(finished.observers, {});
  for (const auto& [number, observer] : observers)
    if (observer.on_finished) observer.on_finished(copy);
  forget_old();
  check_drained();
}

void RunTable::forget_old() {
  while (finished_.size() > limits_.finished_max ||
         (finished_bytes_ > limits_.finished_bytes_max && finished_.size() > 1)) {
    const RunId id = finished_.front();
    finished_.pop_front();
    finished_bytes_ -= bytes_of(entries_.at(id)->record);
    entries_.erase(id);
    order_.remove(id);
  }
}

void RunTable::bury_strays() {
  const std::size_t left = kernel::kill_strays([this](pid_t child) {
    return std::any_of(alive_.begin(), alive_.end(),
                       [child](const auto& run) { return run.second == child; });
  });
  if (alive_.empty() && left == 0) return;
  stray_timer_.start(left > 0 ? milliseconds(10) : stray_interval, [this] { bury_strays(); });
}

// ---- Shutdown ----------------------------------------------------------------------------------

void RunTable::drain(milliseconds deadline, std::function<void()> on_drained) {
  draining_ = true;
  on_drained_ = std::move(on_drained);
  const std::vector<RunId> waiting(queue_.begin(), queue_.end());
  for (const RunId& id : waiting) [[maybe_unused]] const auto stopped = stop(id, Cause::shutdown);
  drain_timer_.start(deadline, [this] { stop_all(Cause::shutdown); });
  check_drained();
}

void RunTable::stop_all(Cause cause) {
  std::vector<RunId> ids(queue_.begin(), queue_.end());
  for (const auto& [id, launcher] : alive_) ids.push_back(id);
  for (const RunId& id : ids) [[maybe_unused]] const auto stopped = stop(id, cause);
}

void RunTable::kill_all(Cause cause) {
  for (const auto& [id, launcher] : alive_) {
    LiveRun& live = *entry(id)->live;
    live.run().kill(cause);
    live.refresh();
  }
  stop_all(cause);  // what is queued; a live run is past stopping
}

void RunTable::check_drained() {
  if (!draining_ || !alive_.empty() || !queue_.empty() || !on_drained_) return;
  drain_timer_.start(milliseconds(0), std::exchange(on_drained_, {}));
}

std::size_t RunTable::queued_bytes() const {
  std::size_t bytes = 0;
  for (const RunId& id : queue_) bytes += bytes_of(entries_.at(id)->request);
  return bytes;
}

RunTable::Entry* RunTable::entry(const RunId& id) {
  const auto at = entries_.find(id);
  return at == entries_.end() ? nullptr : at->second.get();
}

}  // namespace paddock::supervisor
