#pragma once
// ResultCache: verdicts that a request may have again without a run. The least recently used go
// first.

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>

#include "supervisor/verify/item_answer.hpp"

namespace paddock::supervisor {

struct ResultCacheLimits {
  std::size_t entries_max = 10'000;
  std::size_t bytes_max = 64u << 20;
};

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
  explicit ResultCache(ResultCacheLimits limits = {}) : limits_(limits) {}

  // Keeps what is lasting. Whose answer it was is not kept: no id, group, nonce or code.
  void put(const ResultKey& key, const ItemAnswer& answer);
  std::optional<ItemAnswer> find(const ResultKey& key);

  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    ResultKey key;
    ItemAnswer answer;
    std::size_t bytes = 0;
  };
  void drop(std::list<Entry>::iterator entry);

  ResultCacheLimits limits_;
  std::list<Entry> entries_;  // most recently used first
  std::map<ResultKey, std::list<Entry>::iterator> by_key_;
  std::size_t bytes_ = 0;
};

}  // namespace paddock::supervisor
