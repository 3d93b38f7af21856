#include "supervisor/verify/result_cache.hpp"

#include <algorithm>

namespace paddock::supervisor {
namespace {

bool is_of_time(const std::string& cause) {
  return cause == "wall_clock" || cause == "cpu_limit";
}

std::size_t bytes_of(const ResultKey& key, const ItemAnswer& answer) {
  std::size_t bytes = sizeof(ItemAnswer) + 2 * sizeof(ResultKey) + 2 * key.tenant.size() +
                      answer.detail.size() + answer.stdout_tail.size() + answer.stderr_tail.size() +
                      answer.cold_because.size();
  for (const CaseAnswer& each : answer.cases)
    bytes += sizeof each + each.cause.size() + each.detail.size();
  for (const std::string& run : answer.runs) bytes += sizeof run + run.size();
  return bytes;
}

}  // namespace

bool is_lasting(const ItemAnswer& answer) {
  if (answer.verdict == Verdict::pass) return true;
  return answer.verdict == Verdict::fail && !is_of_time(answer.cause) &&
         std::none_of(answer.cases.begin(), answer.cases.end(),
                      [](const CaseAnswer& each) { return is_of_time(each.cause); });
}

void ResultCache::put(const ResultKey& key, const ItemAnswer& answer) {
  if (!is_lasting(answer)) return;
  if (const auto known = by_key_.find(key); known != by_key_.end()) drop(known->second);
  Entry entry{.key = key, .answer = answer, .bytes = bytes_of(key, answer)};
  for (std::string* own : {&entry.answer.id, &entry.answer.group, &entry.answer.nonce,
                           &entry.answer.mac, &entry.answer.key_id})
    own->clear();
  bytes_ += entry.bytes;
  entries_.push_front(std::move(entry));
  by_key_[key] = entries_.begin();
  while (entries_.size() > limits_.entries_max || bytes_ > limits_.bytes_max)
    drop(std::prev(entries_.end()));
}

std::optional<ItemAnswer> ResultCache::find(const ResultKey& key) {
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, known->second);
  return known->second->answer;
}

void ResultCache::drop(std::list<Entry>::iterator entry) {
  bytes_ -= entry->bytes;
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace paddock::supervisor
