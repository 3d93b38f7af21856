#include "supervisor/runs/run_table.hpp"

#include <algorithm>
#include <utility>

#include "supervisor/runs/run_transition.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Cause;
using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using std::chrono::milliseconds;
using std::chrono::system_clock;

// Started per turn of the loop: each start costs about a millisecond, and others are waiting.
constexpr int run_starts_per_turn = 8;
// How often to look whether the ledger can be written again.
constexpr milliseconds unwritten_interval{1000};

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

kernel::SandboxResult never_started(Cause cause, const RunRecord& record,
                                    const std::string& reason = {}) {
  kernel::SandboxResult result;
  result.exit_code = -9;
  result.cause = cause;
  result.killed = true;
  result.detail = reason.empty() ? still_queued_detail : reason;
  result.profile = record.profile;
  result.policy_hash = record.policy_hash;
  return result;
}

// What a finished run is remembered with, as far as clients and agents decide its size.
std::size_t bytes_of(const RunRecord& record) {
  std::size_t bytes = record.result->stdout.size() + record.result->stderr.size();
  bytes += record.policy_text.size();
  for (const std::string& argument : record.argv) bytes += argument.size();
  return bytes;
}

// From the order to end a run; of one whose wall clock passed, from then.
std::optional<RunTableObserver::Seconds> kill_time_of(
    const kernel::SandboxResult& result, std::optional<kernel::Clock::time_point> stop_asked_at,
    std::optional<milliseconds> wall_clock) {
  using Seconds = RunTableObserver::Seconds;
  if (result.timed_out && wall_clock)
    return std::max(Seconds(result.duration_s) - Seconds(*wall_clock), Seconds(0));
  if (stop_asked_at) return kernel::Clock::now() - *stop_asked_at;
  return std::nullopt;
}

// What a run that waits holds on to, as far as its client decides.
std::size_t bytes_of(const ResolvedRun& run) {
  std::size_t bytes = run.stdin_bytes.size() + run.channel_bytes;
  for (const std::string& argument : run.argv) bytes += argument.size();
  return bytes;
}

}  // namespace

RunTable::RunTable(uv_loop_t* loop, const kernel::Sandbox& sandbox, Recorder& recorder,
                   RunTableLimits limits, RunTableObserver* observer, WarmSource* warm)
    : loop_(loop),
      sandbox_(sandbox),
      recorder_(recorder),
      limits_(limits),
      observer_(observer),
      warm_(warm),
      queue_({.alive_max = limits.alive_max,
              .queued_max = limits.queued_max,
              .queued_bytes_max = limits.queued_bytes_max}),
      pump_timer_(loop),
      unwritten_timer_(loop),
      strays_(
          loop, [this](pid_t pid) { return is_launcher(pid); }, [this] { return !alive_.empty(); }),
      outcomes_(loop, recorder),
      drain_(loop) {}

RunTable::~RunTable() {
  const auto record = [this](const Entry& ended, const kernel::SandboxResult& result) {
    recorder_.commit(finished_transition(ended.record, result, ended.digests, system_clock::now()),
                     IfUnwritten::keep, {});
  };
  for (const auto& [id, launcher] : alive_) {
    Entry& ended = *entry(id);
    ended.live->run().stop(Cause::shutdown);
    ended.live->run().abandon();
    ended.live->refresh();
    record(ended, ended.live->run().take_result());
  }
  for (const RunId& id : without_process())
    record(*entry(id), never_started(Cause::shutdown, entry(id)->record));
  for (const auto& [id, doubted] : entries_)
    if (doubted->stage == Stage::doubtful) record(*doubted, *doubted->result);
  bury_all_strays();
}

// ---- Into the table ----------------------------------------------------------------------------

Result<void> RunTable::check_open(const ResolvedRun& run) const {
  if (draining() && (!run.beside_slots || drain_.is_over()))
    return fail(ErrorCode::draining, "the daemon is draining and takes nothing new");
  if (!recorder_.is_writing())
    return fail(ErrorCode::not_recorded,
                "the ledger cannot be written at the moment, and no run starts without a record");
  return {};
}

Result<RunId> RunTable::take_place(const ResolvedRun& run) {
  TRY_VOID(check_open(run));
  RunId id = make_run_id();
  if (run.beside_slots) {
    beside_.insert(id);
  } else {
    TRY_VOID(queue_.push(id, run.tenant, bytes_of(run)));
  }
  return id;
}

Result<RunId> RunTable::submit(ResolvedRun&& run, RunObserver observer) {
  const auto place = take_place(run);
  if (!place) {
    if (observer_ != nullptr) observer_->run_refused(place.error().code);
    return place;
  }
  const RunId& id = *place;
  auto entry = std::make_shared<Entry>();
  RunRecord& record = entry->record;
  record.id = id;
  record.profile = run.policy.profile;
  record.agent = run.agent;
  record.tenant = run.tenant;
  record.parent = run.is_canary ? RunId(canary_parent) : run.parent;
  record.argv = run.recorded ? run.recorded->words : std::move(run.argv);
  record.created_at = system_clock::now();
  const PolicyTexts::Text& policy = policy_texts_.of(run.policy);
  record.policy_text = policy.text;
  record.policy_hash = policy.hash;
  entry->is_canary = run.is_canary;
  entry->stdin_closed = !run.stdin_open;
  entry->request = std::move(run);
  entry->observers[++last_observer_] = std::move(observer);
  entry->submitted_at = kernel::Clock::now();

  entry->place = order_.insert(order_.begin(), id);
  entries_[id] = std::move(entry);
  admit(*entries_[id]);
  return id;
}

// A run that need not wait, and overtakes nobody that waits for a slot, is recorded as starting at
// once.
void RunTable::admit(Entry& entry) {
  const bool starts = entry.request.beside_slots || queue_.take_at_once(entry.record.id);
  entry.stage = starts ? Stage::starting : Stage::admitting;
  recorder_.commit(
      admitted_transition(entry.record, entry.request,
                          starts ? FirstState::starting : FirstState::queued, system_clock::now()),
      IfUnwritten::refuse,
      [this, id = entry.record.id](const Committed& committed) { admitted(id, committed); });
}

void RunTable::admitted(const RunId& id, const Committed& committed) {
  const std::shared_ptr<Entry> held = entries_.at(id);
  Entry& found = *held;
  if (!committed) return refuse(id, committed.error());
  found.accepted = true;
  // Observers may call back into the table: it is held meanwhile, and they are a copy.
  const auto observers = found.observers;
  for (const auto& [number, observer] : observers)
    if (observer.on_accepted) observer.on_accepted(found.record);
  if (found.stop_cause)
    return finish(found, never_started(*found.stop_cause, found.record, found.stop_reason));
  if (found.stage == Stage::starting) return get_ready(found);
  found.stage = Stage::queued;
  queue_.release(id);
  schedule_pump();
}

void RunTable::refuse(const RunId& id, const kernel::Error& error) {
  const std::shared_ptr<Entry> refused = std::move(entries_.at(id));
  entries_.erase(id);
  order_.erase(refused->place);
  queue_.remove(id);
  beside_.erase(id);
  if (observer_ != nullptr) observer_->run_refused(error.code);
  for (const auto& [number, observer] : refused->observers)
    if (observer.on_refused) observer.on_refused(error);
  schedule_pump();
  check_drained();
}

bool RunTable::has_slot(const RunId& id) const {
  const auto at = entries_.find(id);
  if (at == entries_.end()) return false;
  switch (at->second->stage) {
    case Stage::admitting:
    case Stage::queued:
      return false;
    case Stage::starting:
    case Stage::ready:
    case Stage::alive:
    case Stage::doubtful:
    case Stage::ended:
      return true;
  }
  return true;
}

const RunRecord* RunTable::find(const RunId& id) const {
  const auto at = entries_.find(id);
  return at == entries_.end() ? nullptr : &at->second->record;
}

std::vector<const RunRecord*> RunTable::list() const {
  std::vector<const RunRecord*> records;
  for (const RunId& id : order_)
    if (const Entry& known = *entries_.at(id); known.accepted && !known.is_canary)
      records.push_back(&known.record);
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

Result<void> RunTable::stop(const RunId& id, Cause cause, const std::string& reason) {
  Entry* found = entry(id);
  if (found == nullptr) return fail(ErrorCode::not_found, "no run '" + id + "'");
  switch (found->stage) {
    case Stage::admitting:
    case Stage::starting:
      if (!found->stop_cause) {
        found->stop_cause = cause;
        found->stop_reason = reason;
      }
      break;
    case Stage::queued:
      finish(*found, never_started(cause, found->record, reason));
      break;
    case Stage::ready:
      std::erase(ready_, id);
      finish(*found, never_started(cause, found->record, reason));
      break;
    case Stage::doubtful:
      break;
    case Stage::alive:
      if (!found->stop_asked_at) found->stop_asked_at = kernel::Clock::now();
      found->live->run().stop(cause, reason);
      found->live->refresh();
      break;
    case Stage::ended:
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

Result<void> RunTable::freeze(const RunId& id) {
  Entry* found = entry(id);
  if (found == nullptr || !found->live)
    return fail(ErrorCode::not_found, "no live run '" + id + "'");
  return found->live->run().freeze();
}

void RunTable::thaw(const RunId& id) {
  Entry* found = entry(id);
  if (found != nullptr && found->live) found->live->run().thaw();
}

std::optional<kernel::RunUsage> RunTable::usage(const RunId& id) {
  Entry* found = entry(id);
  if (found == nullptr || !found->live || found->live->run().finished()) return std::nullopt;
  return found->live->run().usage_now();
}

Result<void> RunTable::write_stdin(const RunId& id, std::string_view bytes, bool close) {
  Entry* found = entry(id);
  if (found == nullptr) return fail(ErrorCode::not_found, "no run '" + id + "'");
  if (found->stdin_closed || found->stage == Stage::doubtful || found->stage == Stage::ended)
    return fail(ErrorCode::invalid_request, "the input of run '" + id + "' is closed");
  const std::size_t pending =
      found->live ? found->live->run().stdin_pending_bytes() : found->request.stdin_bytes.size();
  if (pending + bytes.size() > limits_.stdin_pending_bytes_max)
    return fail(ErrorCode::too_busy, "run '" + id + "' has not read its input yet");
  if (!found->live) TRY_VOID(queue_.grow(id, bytes.size()));
  found->stdin_closed = close;
  if (found->live) {
    found->live->run().write_stdin(bytes);
    if (close) found->live->run().close_stdin();
    found->live->refresh();
  }
  if (!found->live || found->is_trial) {
    found->request.stdin_bytes += bytes;
    found->request.stdin_open = !close;
  }
  return {};
}

// ---- The queue ---------------------------------------------------------------------------------

void RunTable::set_tenant_limits(std::map<std::string, TenantLimits> limits) {
  queue_.set_tenant_limits(std::move(limits));
  schedule_pump();
}

void RunTable::schedule_pump() {
  if (!pump_timer_.is_running()) pump_timer_.start(milliseconds(0), [this] { pump(); });
}

void RunTable::pump() {
  tell_ends();
  for (int started = 0; started < run_starts_per_turn && !ready_.empty(); ++started) {
    const RunId id = ready_.front();
    ready_.pop_front();
    start(*entry(id));
  }
  // What was accepted already waits for a ledger that cannot be written, as it does for a slot.
  const bool is_writing = recorder_.is_writing();
  while (is_writing) {
    const auto id = queue_.take();
    if (!id) break;
    Entry& next = *entry(*id);
    next.stage = Stage::starting;
    recorder_.commit(
        starting_transition(next.record, system_clock::now()), IfUnwritten::refuse,
        [this, id = *id](const Committed& committed) { start_recorded(id, committed); });
    tell_slot(next);
  }
  if (!ready_.empty()) return schedule_pump();
  if (!is_writing && queue_.queued() > 0)
    unwritten_timer_.start(unwritten_interval, [this] { schedule_pump(); });
}

// Its client knows of it since it was queued: it gets an outcome, as every such run does.
void RunTable::start_recorded(const RunId& id, const Committed& committed) {
  Entry& next = *entry(id);
  if (next.stop_cause)
    return finish(next, never_started(*next.stop_cause, next.record, next.stop_reason));
  if (!committed) return finish(next, result_of(committed.error(), next.record));
  get_ready(next);
}

// They may call back into the table: the entry is held meanwhile, and they are a copy.
void RunTable::tell_slot(const Entry& entry) {
  const std::shared_ptr<const Entry> held = entries_.at(entry.record.id);
  const auto observers = held->observers;
  for (const auto& [number, observer] : observers)
    if (observer.on_slot) observer.on_slot(held->record);
}

void RunTable::get_ready(Entry& next) {
  next.stage = Stage::ready;
  ready_.push_back(next.record.id);
  schedule_pump();
}

void RunTable::start(Entry& started) {
  started.record.phase = RunPhase::running;
  queue_.started(started.record.id);
  started.record.queue_ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<milliseconds>(kernel::Clock::now() - started.submitted_at)
          .count());
  if (observer_ != nullptr) observer_->run_left_queue(started.record);
  if (!start_warm(started)) start_cold(started);
}

const std::vector<std::string>& RunTable::argv_of(const Entry& entry) {
  return entry.request.recorded ? entry.request.argv : entry.record.argv;
}

void RunTable::start_cold(Entry& entry) {
  ResolvedRun& request = entry.request;
  auto run = sandbox_.start(request.policy, argv_of(entry), request.cwd, entry.record.id,
                            options_of(entry, std::move(request.stdin_bytes)));
  request.channel.reset();  // or the other end would never see the program's end
  if (!run) return finish(entry, result_of(run.error(), entry.record));
  go_live(entry, std::move(*run));
}

kernel::RunOptions RunTable::options_of(Entry& entry, std::string stdin_bytes) {
  const ResolvedRun& request = entry.request;
  return {
      .stdin_bytes = std::move(stdin_bytes),
      .program = request.program,
      .channel = request.channel ? request.channel->get() : -1,
      .stdin_stays_open = request.stdin_open,
      .on_output =
          [this, id = entry.record.id](kernel::Stream stream, std::string_view bytes) {
            Entry& live = *this->entry(id);
            // Before its gate it is not the program that writes.
            if (live.is_trial && !live.live->run().started()) return;
            announce(live);  // a stream's first event is `started`
            live.digests.append(stream, bytes);
            for (const auto& [number, observer] : live.observers)
              if (observer.on_output) observer.on_output(stream, bytes);
          },
      .policy_hash = entry.record.policy_hash,
  };
}

void RunTable::go_live(Entry& entry, std::unique_ptr<kernel::Run> run) {
  const RunId id = entry.record.id;
  entry.stage = Stage::alive;
  entry.digests = OutputDigests(entry.request.policy.output_bytes);
  entry.record.degraded = run->plan().degraded;
  entry.record.started_at = system_clock::now();
  entry.record.marks = run->marks();
  alive_[id] = run->launcher();
  entry.live = std::make_unique<LiveRun>(loop_, std::move(run), [this, id] { changed(id); });
  strays_.run_started();
}

// ---- Live runs ---------------------------------------------------------------------------------

void RunTable::changed(const RunId& id) {
  Entry& live = *entry(id);
  kernel::Run& run = live.live->run();
  if (!live.record.receipt && run.receipt()) live.record.receipt = run.receipt();
  if (run.started()) announce(live);
  if (!run.finished()) return;
  if (live.is_trial && !live.stop_asked_at) return start_again(live);
  alive_.erase(id);
  kernel::SandboxResult result = run.take_result();
  if (live.is_trial) stopped_before_gate(live, result);
  live.used_network = !run.left_network_alone();
  live.live.reset();  // gives back the host uid, the cgroup and the workspace
  if (result.survivors_unproved || result.cause == Cause::tampered) strays_.look_now();
  if (result.cause == Cause::tampered && live.record.warm.value_or(false)) {
    doubt(live, std::move(result));
  } else {
    finish(live, std::move(result));
  }
}

void RunTable::announce(Entry& live) {
  if (std::exchange(live.announced, true)) return;
  pass_gate(live);
  if (!live.record.receipt) live.record.receipt = live.live->run().receipt();
  live.record.marks = live.live->run().marks();
  recorder_.commit(running_transition(live.record, system_clock::now()), IfUnwritten::keep, {});
  for (const auto& [number, observer] : live.observers)
    if (observer.on_started) observer.on_started(live.record);
}

// Its process is gone, or never was: the slot is free, and the outcome is on its way to the ledger.
void RunTable::finish(Entry& finished, kernel::SandboxResult result) {
  drain_.run_ended(finished.stage == Stage::alive || finished.stage == Stage::doubtful,
                   result.cause);
  finished.kill_time =
      kill_time_of(result, finished.stop_asked_at, finished.request.policy.wall_clock);
  finished.stage = Stage::ended;
  queue_.remove(finished.record.id);
  beside_.erase(finished.record.id);
  if (finished.record.warm && warm_ != nullptr)
    warm_->ended(finished.record.id, finished.used_network);
  finished.is_trial = false;
  finished.request = {};
  finished.record.degraded = result.degraded;
  const RunId id = finished.record.id;
  outcomes_.commit(
      id, finished_transition(finished.record, result, finished.digests, system_clock::now()),
      [this, id](bool recorded) { settled(id, recorded); });
  finished.result = std::move(result);
  ended_.push_back(entries_.at(id));
  schedule_pump();
}

// On the turn after it: who stops a run is not called back from within that.
void RunTable::tell_ends() {
  for (const std::shared_ptr<Entry>& ended : std::exchange(ended_, {})) tell_end(*ended);
}

void RunTable::tell_end(Entry& ended) {
  if (std::exchange(ended.is_end_told, true)) return;
  const auto observers = ended.observers;
  for (const auto& [number, observer] : observers)
    if (observer.on_ended) observer.on_ended(ended.record, *ended.result);
}

// Once, or a second time when an outcome is recorded that has long been told.
void RunTable::settled(const RunId& id, bool recorded) {
  const auto at = entries_.find(id);
  if (at == entries_.end()) return;
  const std::shared_ptr<Entry> found = at->second;
  RunRecord& record = found->record;
  record.recorded = recorded;
  if (record.phase == RunPhase::finished) return;
  tell_end(*found);
  record.phase = RunPhase::finished;
  record.result = std::move(found->result);
  finished_bytes_ += bytes_of(record);
  if (observer_ != nullptr) observer_->run_finished(record, found->kill_time);
  // Observers may call back into the table: the entry is held until all have been told.
  const auto observers = std::exchange(found->observers, {});
  if (found->is_canary) {
    forget(id);
  } else {
    finished_.push_back(id);
  }
  for (const auto& [number, observer] : observers)
    if (observer.on_finished) observer.on_finished(record);
  forget_old();
  check_drained();
}

void RunTable::forget_old() {
  while (finished_.size() > limits_.finished_max ||
         (finished_bytes_ > limits_.finished_bytes_max && finished_.size() > 1)) {
    const RunId id = finished_.front();
    finished_.pop_front();
    forget(id);
  }
}

void RunTable::forget(const RunId& id) {
  const auto forgotten = entries_.find(id);
  finished_bytes_ -= bytes_of(forgotten->second->record);
  order_.erase(forgotten->second->place);
  entries_.erase(forgotten);
}

// ---- Shutdown ----------------------------------------------------------------------------------

void RunTable::drain(milliseconds deadline, DrainUntil until, OnDrained on_drained) {
  drain_.begin(deadline, until, std::move(on_drained), [this] { stop_all(Cause::shutdown); });
  for (const RunId& id : without_process())
    if (!beside_.contains(id)) [[maybe_unused]]
      const auto stopped = stop(id, Cause::shutdown);
  check_drained();
}

Result<void> RunTable::undrain() {
  return drain_.cancel();
}

void RunTable::stop_all(Cause cause) {
  std::vector<RunId> ids = without_process();
  for (const auto& [id, launcher] : alive_) ids.push_back(id);
  for (const RunId& id : ids) [[maybe_unused]] const auto stopped = stop(id, cause);
}

void RunTable::kill_all(Cause cause) {
  for (const auto& [id, launcher] : alive_) {
    Entry& killed = *entry(id);
    if (!killed.stop_asked_at) killed.stop_asked_at = kernel::Clock::now();
    LiveRun& live = *killed.live;
    live.run().kill(cause);
    live.refresh();
  }
  stop_all(cause);  // what has no process yet; a live run is past stopping
}

// Every run is in finished_ from its end until it is forgotten.
void RunTable::check_drained() {
  if (entries_.size() == finished_.size()) drain_.nobody_left();
}

// Of those that have not ended.
std::vector<RunId> RunTable::without_process() const {
  std::vector<RunId> ids;
  for (const RunId& id : order_) {
    const Stage stage = entries_.at(id)->stage;
    if (stage != Stage::alive && stage != Stage::doubtful && stage != Stage::ended)
      ids.push_back(id);
  }
  return ids;
}

std::size_t RunTable::alive(const std::string& tenant) const {
  return static_cast<std::size_t>(std::count_if(alive_.begin(), alive_.end(), [&](const auto& run) {
    return entries_.at(run.first)->record.tenant == tenant;
  }));
}

std::size_t RunTable::queued(const std::string& tenant) const {
  const auto beside = std::count_if(beside_.begin(), beside_.end(), [&](const RunId& id) {
    return entries_.at(id)->record.tenant == tenant;
  });
  return queue_.queued(tenant) + queue_.alive(tenant) + static_cast<std::size_t>(beside) -
         alive(tenant);
}

bool RunTable::is_launcher(pid_t pid) const {
  if (warm_ != nullptr && warm_->is_launcher(pid)) return true;
  return std::any_of(alive_.begin(), alive_.end(),
                     [pid](const auto& run) { return run.second == pid; });
}

RunTable::Entry* RunTable::entry(const RunId& id) {
  const auto at = entries_.find(id);
  return at == entries_.end() ? nullptr : at->second.get();
}

}  // namespace paddock::supervisor
