#include "supervisor/verify/result_cache.hpp"

#include <algorithm>
#include <utility>

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
  ItemAnswer kept = answer;
  for (std::string* own : {&kept.id, &kept.group, &kept.nonce, &kept.mac, &kept.key_id})
    own->clear();
  const std::size_t bytes = bytes_of(key, kept);
  verdicts_.put(key, std::move(kept), bytes);
}

std::optional<ItemAnswer> ResultCache::find(const ResultKey& key) {
  const ItemAnswer* const known = verdicts_.find(key);
  return known == nullptr ? std::nullopt : std::optional(*known);
}

}  // namespace paddock::supervisor
