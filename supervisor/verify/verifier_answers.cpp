// Verifier: from an item's verdict to its answer: on record first, then to whoever asked, then its
// group, then the end of its request.

#include <fmt/format.h>

#include <utility>

#include "supervisor/verify/verdict_transition.hpp"
#include "supervisor/verify/verifier.hpp"

namespace paddock::supervisor {
void Verifier::record(Place place, ItemAnswer answer) {
  Batch& batch = batches_.at(place.batch);
  batch.entries[place.index].stage = Stage::recording;
  const auto key = parts_.key_of(batch.request.tenant);
  if (!key) {
    answer = invalid(batch, std::get<ResolvedItem>(batch.entries[place.index].item), "internal",
                     key.error().message);
  } else if (*key) {
    answer.mac = mac_of(answer, **key);
    answer.key_id = (*key)->id;
  }
  batch.entries[place.index].kept_reward = answer.reward;
  std::string json = answer_to_json(answer);
  Transition transition =
      verdict_transition(answer, json, batch.request.request_id, batch.request.tenant,
                         std::chrono::system_clock::now());
  ++batch.recording;
  answer.cases.clear();
  outcomes_.commit(key_of_place(place), std::move(transition),
                   [this, place, answer = std::move(answer), json = std::move(json)](
                       bool is_recorded) { recorded(place, answer, json, is_recorded); });
}

// A second time for one whose patience had run out.
void Verifier::recorded(Place place, const ItemAnswer& answer, const std::string& json,
                        bool is_recorded) {
  Batch& batch = batches_.at(place.batch);
  Entry& entry = batch.entries[place.index];
  const bool is_first = entry.stage == Stage::recording;
  if (is_recorded) {
    --batch.recording;
    free_nonce(batch, entry);
  }
  if (batch.is_cancelled || !is_first) return erase_if_idle(place.batch);
  if (is_recorded) return deliver(place, answer, json);
  ItemAnswer unrecorded = invalid(
      batch, std::get<ResolvedItem>(entry.item), "not_recorded",
      "it was judged, and the ledger could not take the verdict in time; ask again with the same "
      "request_id");
  deliver(place, unrecorded, answer_to_json(unrecorded));
}

void Verifier::deliver(Place place, const ItemAnswer& answer, const std::string& json) {
  Batch& batch = batches_.at(place.batch);
  Entry& entry = batch.entries[place.index];
  if (entry.stage != Stage::recording) entry.kept_reward = answer.reward;
  entry.stage = Stage::answered;
  entry.reward = answer.reward;
  --batch.open_items;
  const std::string group = entry.group;
  if (parts_.on_verdict && !entry.from_ledger) parts_.on_verdict(answer);
  const auto on_answer = batch.observer.on_answer;
  if (on_answer) on_answer(place.index, answer, json);
  if (!group.empty()) close_member(place.batch, group);
  check_end(place.batch);
}

void Verifier::close_member(BatchId id, const std::string& name) {
  Batch* const batch = find(id);
  if (batch == nullptr || batch->is_cancelled) return;
  Group& group = batch->groups.at(name);
  if (--group.open > 0) return;
  GroupAnswer answer{
      .request_id = batch->request.request_id, .group = name, .ids = {}, .rewards = {}};
  GroupAnswer kept = answer;  // behind its verdicts: where it is on record, so are they
  for (const std::size_t member : group.members) {
    const Entry& entry = batch->entries[member];
    for (GroupAnswer* const each : {&answer, &kept}) each->ids.push_back(entry.id);
    answer.rewards.push_back(entry.reward);
    kept.rewards.push_back(entry.kept_reward);
  }
  if (group.is_recorded) return deliver_group(id, answer);
  ++batch->recording;
  outcomes_.commit(fmt::format("{}-group-{}", id, name),
                   group_transition(kept, batch->request.tenant, std::chrono::system_clock::now()),
                   [this, id, answer](bool is_recorded) {
                     Batch& recording = batches_.at(id);
                     if (is_recorded) --recording.recording;
                     Group& ended = recording.groups.at(answer.group);
                     if (!recording.is_cancelled && !std::exchange(ended.is_recorded, true))
                       return deliver_group(id, answer);
                     erase_if_idle(id);
                   });
}

void Verifier::deliver_group(BatchId id, const GroupAnswer& group) {
  Batch& batch = batches_.at(id);
  --batch.open_groups;
  const auto on_group = batch.observer.on_group;
  if (on_group) on_group(group);
  check_end(id);
}

void Verifier::check_end(BatchId id) {
  Batch* const batch = find(id);
  if (batch == nullptr || batch->is_cancelled) return;
  if (batch->open_items > 0 || batch->open_groups > 0 || !batch->has_begun) return;
  const auto on_end = batch->observer.on_end;
  batch->is_cancelled = true;  // nobody waits for it any more
  batch->observer = {};
  batch->deadline.reset();
  if (on_end) on_end();
  erase_if_idle(id);
}

// What is on its way to the ledger keeps the request's id.
void Verifier::erase_if_idle(BatchId id) {
  const Batch* const batch = find(id);
  if (batch == nullptr || !batch->is_cancelled || batch->recording > 0) return;
  requests_.erase({batch->request.tenant, batch->request.request_id});
  batches_.erase(id);
}

}  // namespace paddock::supervisor
