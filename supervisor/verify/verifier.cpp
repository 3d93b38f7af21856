#include "supervisor/verify/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "supervisor/verify/score.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using std::chrono::milliseconds;

// Each takes a millisecond or so, and others are waiting.
constexpr int item_starts_per_turn = 16;

std::uint64_t milliseconds_between(kernel::Clock::time_point begin, kernel::Clock::time_point end) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(std::chrono::duration_cast<milliseconds>(end - begin).count(), 0));
}

// What an item that waits holds on to.
std::size_t bytes_of(const Item& item) {
  std::size_t bytes = item.code.size();
  if (const auto* const judged = std::get_if<JudgedTests>(&item.tests))
    return bytes + judged->job.size();
  for (const StdioCase& each : std::get<StdioTests>(item.tests).cases)
    bytes += sizeof each + each.stdin_bytes.size() + each.stdout_bytes.size();
  return bytes;
}

// What an answer says of it.
ResolvedItem labels_of(const ResolvedItem& item) {
  ResolvedItem labels;
  labels.item.id = item.item.id;
  labels.item.group = item.item.group;
  labels.item.nonce = item.item.nonce;
  labels.item.integrity = item.item.integrity;
  labels.item.code_hash = item.item.code_hash;
  labels.item.tests_hash = item.item.tests_hash;
  labels.policy_hash = item.policy_hash;
  labels.candidate_policy = item.candidate_policy;
  return labels;
}

ResultKey cache_key(const std::string& tenant, const ResolvedItem& item) {
  return {.tenant = tenant,
          .code_hash = item.item.code_hash,
          .tests_hash = item.item.tests_hash,
          .policy_hash = item.policy_hash};
}

// Clients that ask for one item after the other come again within this.
constexpr milliseconds room_kept{10'000};

RunQueueLimits queue_limits(std::size_t items_alive) {
  constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max() / 2;
  return {.alive_max = items_alive,
          .queued_max = no_limit,
          .queued_bytes_max = no_limit,
          .room_kept = room_kept};
}

const char* const late_detail = "its deadline_ms passed";
const char* const shutdown_detail = "it was still waiting when the daemon began to drain";

}  // namespace

Verifier::Verifier(Parts parts, VerifierLimits limits)
    : parts_(std::move(parts)),
      limits_(limits),
      queue_(queue_limits(limits.items_alive)),
      cache_(limits.cache),
      finder_(parts_.loop, parts_.runs),
      outcomes_(parts_.loop, parts_.recorder),
      pump_timer_(parts_.loop) {}

Verifier::~Verifier() = default;

std::string Verifier::key_of_place(Place place) {
  return fmt::format("{}-{}", place.batch, place.index);
}

Verifier::Batch* Verifier::find(BatchId id) {
  const auto at = batches_.find(id);
  return at == batches_.end() ? nullptr : &at->second;
}

void Verifier::set_tenant_limits(std::map<std::string, TenantLimits> limits) {
  // What may wait is bounded for all together.
  for (auto& [tenant, own] : limits) own = {.alive_max = own.alive_max};
  queue_.set_tenant_limits(std::move(limits));
  schedule_pump();
}

// ---- Into the queue ----------------------------------------------------------------------------

Result<void> Verifier::check_room(const VerifyBatch& batch) const {
  if (parts_.runs.draining())
    return fail(ErrorCode::draining, "the daemon is draining and takes nothing new");
  if (!parts_.recorder.is_writing())
    return fail(ErrorCode::not_recorded,
                "the ledger cannot be written at the moment, and no verdict goes out without a "
                "record");
  if (requests_.contains({batch.tenant, batch.request_id}))
    return fail(ErrorCode::too_busy,
                fmt::format("the request '{}' is under way; try again later", batch.request_id));
  std::size_t items = 0;
  std::size_t bytes = 0;
  for (const auto& item : batch.items) {
    const auto* const resolved = std::get_if<ResolvedItem>(&item);
    if (resolved == nullptr) continue;
    ++items;
    bytes += bytes_of(resolved->item);
  }
  if (items > limits_.queued_max - std::min(queued_, limits_.queued_max))
    return fail(ErrorCode::too_busy,
                fmt::format("there is no room for {} items: {} wait, and {} may; try again later",
                            items, queued_, limits_.queued_max));
  if (bytes > limits_.queued_bytes_max - std::min(queued_bytes_, limits_.queued_bytes_max))
    return fail(ErrorCode::too_busy,
                fmt::format("there is no room for {} bytes of code and tests: {} wait, and {} may; "
                            "try again later",
                            bytes, queued_bytes_, limits_.queued_bytes_max));
  return {};
}

Result<Verifier::BatchId> Verifier::submit(VerifyBatch request, BatchObserver observer) {
  TRY_VOID(check_room(request));
  const BatchId id = ++last_batch_;
  Batch& batch = batches_[id];
  batch.id = id;
  batch.observer = std::move(observer);
  batch.arrived_at = kernel::Clock::now();
  for (auto& item : std::exchange(request.items, {})) {
    Entry entry;
    if (const auto* const resolved = std::get_if<ResolvedItem>(&item)) {
      entry.id = resolved->item.id;
      entry.group = resolved->item.group;
      entry.nonce = resolved->item.nonce;
      entry.bytes = bytes_of(resolved->item);
    } else {
      const auto& refused = std::get<RefusedItem>(item);
      entry.id = refused.id;
      entry.group = refused.group;
    }
    // Of two requests under way at once only one can have it.
    if (!entry.nonce.empty() && !nonces_.emplace(request.tenant, entry.nonce).second) {
      entry.nonce.clear();
      item = RefusedItem{.id = entry.id, .group = entry.group, .why = "nonce: it was used before"};
    }
    if (std::holds_alternative<ResolvedItem>(item)) {
      ++queued_;
      queued_bytes_ += entry.bytes;
    }
    entry.item = std::move(item);
    if (!entry.group.empty()) {
      Group& group = batch.groups[entry.group];
      group.members.push_back(batch.entries.size());
      ++group.open;
    }
    batch.entries.push_back(std::move(entry));
  }
  batch.open_items = batch.entries.size();
  batch.open_groups = batch.groups.size();
  batch.request = std::move(request);
  if (!batch.request.request_id.empty())
    requests_.emplace(batch.request.tenant, batch.request.request_id);
  if (batch.request.deadline) {
    batch.deadline = std::make_unique<Timer>(parts_.loop);
    batch.deadline->start(*batch.request.deadline, [this, id] { pass_deadline(id); });
  }
  ask_ledger(id, batch);
  return id;
}

void Verifier::ask_ledger(BatchId id, Batch& batch) {
  RecordedQuestion question{
      .tenant = batch.request.tenant, .request_id = batch.request.request_id, .nonces = {}};
  for (const Entry& entry : batch.entries)
    if (!entry.nonce.empty()) question.nonces.push_back(entry.nonce);
  if (question.request_id.empty() && question.nonces.empty()) {
    batch.begin_timer = std::make_unique<Timer>(parts_.loop);
    return batch.begin_timer->start(milliseconds(0), [this, id] { begin(id, RecordedAnswers{}); });
  }
  parts_.look_up(std::move(question),
                 [this, id](const Result<RecordedAnswers>& recorded) { begin(id, recorded); });
}

void Verifier::begin(BatchId id, const Result<RecordedAnswers>& recorded) {
  Batch* batch = find(id);
  if (batch == nullptr) return;  // its client has left
  if (!recorded) {
    const auto on_failure = batch->observer.on_failure;
    cancel(id);
    if (on_failure) on_failure(recorded.error());
    return;
  }
  batch->has_begun = true;
  for (auto& [name, group] : batch->groups) group.is_recorded = recorded->groups.contains(name);
  for (std::size_t i = 0; i < batch->entries.size(); ++i) {
    begin_item({.batch = id, .index = i}, *recorded);
    batch = find(id);
    if (batch == nullptr || batch->is_cancelled) return;
  }
  schedule_pump();
}

void Verifier::begin_item(Place place, const RecordedAnswers& recorded) {
  Batch& batch = batches_.at(place.batch);
  Entry& entry = batch.entries[place.index];
  if (const auto* const refused = std::get_if<RefusedItem>(&entry.item))
    return refuse(place, *refused);
  if (const auto known = recorded.answers.find(entry.id); known != recorded.answers.end())
    return answer_again(place, known->second);
  if (recorded.nonces.contains(entry.nonce))
    return refuse(place,
                  {.id = entry.id, .group = entry.group, .why = "nonce: it was used before"});
  if (batch.is_late) return answer_open(place, "deadline", late_detail);
  if (parts_.runs.draining()) return answer_open(place, "shutdown", shutdown_detail);
  enqueue(place);
}

// Nothing of it is on record: it may be put right and come again.
void Verifier::refuse(Place place, const RefusedItem& item) {
  Batch& batch = batches_.at(place.batch);
  leave_queue(batch, batch.entries[place.index]);
  free_nonce(batch, batch.entries[place.index]);
  ItemAnswer answer = refused_answer(item);
  answer.profile = batch.request.profile;
  deliver(place, answer, answer_to_json(answer));
}

void Verifier::answer_again(Place place, const std::string& json) {
  Batch& batch = batches_.at(place.batch);
  Entry& entry = batch.entries[place.index];
  const auto& resolved = std::get<ResolvedItem>(entry.item);
  const Item& item = resolved.item;
  const auto answer = answer_from_json(json);
  if (!answer) return answer_open(place, "internal", answer.error().message);
  if (answer->code_hash != item.code_hash || answer->tests_hash != item.tests_hash ||
      answer->nonce != item.nonce)
    return refuse(place, {.id = entry.id,
                          .group = entry.group,
                          .why = "id: under this request_id it was answered for other code, other "
                                 "tests or another nonce"});
  if (answer->policy_hash != resolved.policy_hash || answer->integrity != item.integrity)
    return refuse(place, {.id = entry.id,
                          .group = entry.group,
                          .why = "id: under this request_id it was answered for a run under "
                                 "another policy, or with another integrity"});
  leave_queue(batch, entry);
  free_nonce(batch, entry);
  entry.from_ledger = true;
  deliver(place, *answer, json);
}

void Verifier::enqueue(Place place) {
  const Batch& batch = batches_.at(place.batch);
  const std::string key = key_of_place(place);
  [[maybe_unused]] const auto pushed = queue_.push(key, batch.request.tenant, 0);
  queue_.release(key);
  places_[key] = place;
}

// Of one that waits: it does so no more.
void Verifier::leave_queue(Batch& batch, Entry& entry) {
  if (entry.stage != Stage::waiting || !std::holds_alternative<ResolvedItem>(entry.item)) return;
  const Place place{.batch = batch.id,
                    .index = static_cast<std::size_t>(&entry - batch.entries.data())};
  const std::string key = key_of_place(place);
  if (places_.erase(key) > 0) queue_.remove(key);
  std::erase(batch.parked, place.index);
  --queued_;
  queued_bytes_ -= entry.bytes;
  entry.stage = Stage::alive;
}

void Verifier::free_nonce(const Batch& batch, const Entry& entry) {
  if (!entry.nonce.empty()) nonces_.erase({batch.request.tenant, entry.nonce});
}

void Verifier::pause(BatchId id, bool paused) {
  Batch* const batch = find(id);
  if (batch == nullptr || batch->is_paused == paused) return;
  batch->is_paused = paused;
  if (paused) return;
  for (const std::size_t index : std::exchange(batch->parked, {}))
    enqueue({.batch = id, .index = index});
  schedule_pump();
}

// ---- Out of the queue --------------------------------------------------------------------------

void Verifier::schedule_pump() {
  if (!pump_timer_.is_running()) pump_timer_.start(milliseconds(0), [this] { pump(); });
}

void Verifier::pump() {
  over_.clear();
  for (int i = 0; i < item_starts_per_turn; ++i) {
    const auto key = queue_.take();
    if (!key) return;
    const Place place = places_.at(*key);
    Batch& batch = batches_.at(place.batch);
    if (batch.is_paused) {
      queue_.remove(*key);
      places_.erase(*key);
      batch.parked.push_back(place.index);
    } else {
      start(*key, place);
    }
  }
  schedule_pump();
}

void Verifier::start(const std::string& key, Place place) {
  Batch& batch = batches_.at(place.batch);
  Entry& entry = batch.entries[place.index];
  ResolvedItem item = std::move(std::get<ResolvedItem>(entry.item));
  const ResolvedItem labels = labels_of(item);
  entry.item = labels;
  entry.stage = Stage::alive;
  --queued_;
  queued_bytes_ -= entry.bytes;
  if (batch.request.cache) {
    auto known = cache_.find(cache_key(batch.request.tenant, labels));
    if (known && (batch.request.known_answers || !known->by_known_answers)) {
      queue_.remove(key);
      places_.erase(key);
      return answer_from_cache(place, std::move(*known));
    }
  }
  if (limits_.known_answers && batch.request.known_answers) item.known = finder_.answers_for(item);
  Alive& alive = alive_[key];
  alive.place = place;
  alive.judging = make_judging(parts_.loop, parts_.runs, std::move(item),
                               [this, key](JudgedItem result) { judged(key, std::move(result)); });
  alive.judging->start();
}

void Verifier::answer_from_cache(Place place, ItemAnswer answer) {
  const Batch& batch = batches_.at(place.batch);
  const Entry& entry = batch.entries[place.index];
  answer.id = entry.id;
  answer.group = entry.group;
  answer.nonce = entry.nonce;
  answer.cached = true;
  answer.cold_because.clear();
  answer.queue_ms = milliseconds_between(batch.arrived_at, kernel::Clock::now());
  answer.run_ms = 0;
  record(place, std::move(answer));
}

void Verifier::judged(const std::string& key, JudgedItem result) {
  Alive alive = std::move(alive_.at(key));
  alive_.erase(key);
  queue_.remove(key);
  places_.erase(key);
  schedule_pump();
  if (!alive.is_answered) {
    Batch& batch = batches_.at(alive.place.batch);
    const auto& labels = std::get<ResolvedItem>(batch.entries[alive.place.index].item);
    if (result.tests_unsteady) finder_.has_none(batch.request.tenant, labels.item.tests_hash);
    ItemAnswer answer = answer_of(batch, alive, std::move(result));
    if (batch.request.cache) cache_.put(cache_key(batch.request.tenant, labels), answer);
    record(alive.place, std::move(answer));
  }
  over_.push_back(std::move(alive.judging));  // it is what calls
}

ItemAnswer Verifier::answer_of(const Batch& batch, const Alive& alive, JudgedItem result) const {
  const auto& item = std::get<ResolvedItem>(batch.entries[alive.place.index].item);
  ItemAnswer answer = invalid(batch, item, {}, {});
  if (result.judgement.fault) {
    answer.cause = result.judgement.fault->cause;
    answer.detail = result.judgement.fault->detail;
  } else {
    const Score score = score_of(result.judgement.cases, batch.request.scoring, batch.request.stop);
    answer.verdict = score.verdict;
    answer.reward = score.reward;
    answer.passed = score.passed;
    answer.total = score.total;
    answer.cause = score.cause;
    answer.detail = score.detail;
    answer.cases = std::move(result.judgement.cases);
  }
  const auto now = kernel::Clock::now();
  const auto slot = alive.judging->slot_at().value_or(now);
  answer.queue_ms = milliseconds_between(batch.arrived_at, slot);
  answer.run_ms = milliseconds_between(slot, now);
  answer.runs = alive.judging->runs();
  answer.degraded = std::move(result.degraded);
  answer.stdout_tail = std::move(result.stdout_tail);
  answer.stderr_tail = std::move(result.stderr_tail);
  answer.cold_because = std::move(result.cold_because);
  answer.by_known_answers = result.by_known_answers;
  return answer;
}

ItemAnswer Verifier::invalid(const Batch& batch, const ResolvedItem& item, std::string cause,
                             std::string detail) const {
  ItemAnswer answer = invalid_answer(item.item, std::move(cause), std::move(detail));
  answer.profile = item.candidate_policy ? item.candidate_policy->profile : batch.request.profile;
  answer.policy_hash = item.policy_hash;
  return answer;
}

// One that waits or is alive gets its answer now; its runs are over when they are.
void Verifier::answer_open(Place place, const std::string& cause, const std::string& detail) {
  Batch& batch = batches_.at(place.batch);
  Entry& entry = batch.entries[place.index];
  ItemAnswer answer = invalid(batch, std::get<ResolvedItem>(entry.item), cause, detail);
  const auto now = kernel::Clock::now();
  answer.queue_ms = milliseconds_between(batch.arrived_at, now);
  const auto at = alive_.find(key_of_place(place));
  if (at != alive_.end()) {
    const auto slot = at->second.judging->slot_at().value_or(now);
    answer.queue_ms = milliseconds_between(batch.arrived_at, slot);
    answer.run_ms = milliseconds_between(slot, now);
    answer.runs = at->second.judging->runs();
    abandon(at->second, detail);
  }
  leave_queue(batch, entry);
  record(place, std::move(answer));
}

void Verifier::abandon(Alive& alive, const std::string& why) {
  alive.is_answered = true;
  alive.judging->stop(why);
}

// From the last to the first, which the queue finds at once.
std::vector<std::size_t> Verifier::open_entries(const Batch& batch, bool also_alive) const {
  std::vector<std::size_t> open;
  for (std::size_t i = batch.entries.size(); i-- > 0;) {
    const Entry& entry = batch.entries[i];
    if (!std::holds_alternative<ResolvedItem>(entry.item)) continue;
    if (entry.stage == Stage::waiting || (also_alive && entry.stage == Stage::alive))
      open.push_back(i);
  }
  return open;
}

void Verifier::pass_deadline(BatchId id) {
  Batch& batch = batches_.at(id);
  batch.is_late = true;
  if (!batch.has_begun) return;
  for (const std::size_t index : open_entries(batch, true))
    answer_open({.batch = id, .index = index}, "deadline", late_detail);
}

void Verifier::drain() {
  finder_.stop("the daemon is draining");
  for (auto& [id, batch] : batches_) {
    if (!batch.has_begun || batch.is_cancelled) continue;
    for (const std::size_t index : open_entries(batch, false))
      answer_open({.batch = id, .index = index}, "shutdown", shutdown_detail);
  }
}

void Verifier::cancel(BatchId id) {
  Batch* const batch = find(id);
  if (batch == nullptr || batch->is_cancelled) return;
  batch->is_cancelled = true;
  batch->observer = {};
  batch->deadline.reset();
  for (const std::size_t index : open_entries(*batch, true)) {
    Entry& entry = batch->entries[index];
    free_nonce(*batch, entry);
    const auto at = alive_.find(key_of_place({.batch = id, .index = index}));
    if (at != alive_.end()) abandon(at->second, "its client has left");
    leave_queue(*batch, entry);
  }
  erase_if_idle(id);
  schedule_pump();
}

}  // namespace paddock::supervisor
