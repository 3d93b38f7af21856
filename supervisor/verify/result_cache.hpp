#pragma once
// ResultCache: verdicts that a request may have again without a run.

#include <cstddef>
#include <optional>
#include <string>

#include "supervisor/verify/bounded_cache.hpp"
#include "supervisor/verify/item_answer.hpp"

namespace paddock::supervisor {

// Everything that a verdict depends on. The hash of the tests covers the language, integrity,
// scoring and stop.
struct ResultKey {
  std::string tenant;  // nobody learns what another one's code did
  std::string code_hash;
  std::string tests_hash;
  std::string policy_hash;

  auto operator<=>(const ResultKey&) const = default;
};

// A pass, or a failure that would be one at any other time: no limit of time has had a part in it.
bool is_lasting(const ItemAnswer& answer);

class ResultCache {
 public:
  explicit ResultCache(CacheLimits limits = {}) : verdicts_(limits) {}

  // Keeps what is lasting. Whose answer it was is not kept: no id, group, nonce or code.
  void put(const ResultKey& key, const ItemAnswer& answer);
  std::optional<ItemAnswer> find(const ResultKey& key);

  std::size_t size() const { return verdicts_.size(); }
  std::size_t bytes() const { return verdicts_.bytes(); }

 private:
  BoundedCache<ResultKey, ItemAnswer> verdicts_;
};

}  // namespace paddock::supervisor
