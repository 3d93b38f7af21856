#pragma once
// BoundedCache: values by their keys, no more of them and no larger together than was said. The
// least recently used go first.

#include <cstddef>
#include <list>
#include <map>
#include <utility>

namespace paddock::supervisor {

struct CacheLimits {
  std::size_t entries_max = 10'000;
  std::size_t bytes_max = 64u << 20;
};

template <class Key, class Value>
class BoundedCache {
 public:
  explicit BoundedCache(CacheLimits limits = {}) : limits_(limits) {}

  // In place of what the key had. `bytes`: what key and value hold, about.
  void put(const Key& key, Value value, std::size_t bytes) {
    erase(key);
    bytes_ += bytes;
    entries_.push_front({.key = key, .value = std::move(value), .bytes = bytes});
    by_key_[key] = entries_.begin();
    while (entries_.size() > limits_.entries_max || bytes_ > limits_.bytes_max)
      drop(std::prev(entries_.end()));
  }

  // Valid until the next call; null: there is none.
  const Value* find(const Key& key) {
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, known->second);
    return &known->second->value;
  }

  void erase(const Key& key) {
    if (const auto known = by_key_.find(key); known != by_key_.end()) drop(known->second);
  }

  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    Key key;
    Value value;
    std::size_t bytes = 0;
  };

  void drop(typename std::list<Entry>::iterator entry) {
    bytes_ -= entry->bytes;
    by_key_.erase(entry->key);
    entries_.erase(entry);
  }

  CacheLimits limits_;
  std::list<Entry> entries_;  // most recently used first
  std::map<Key, typename std::list<Entry>::iterator> by_key_;
  std::size_t bytes_ = 0;
};

}  // namespace paddock::supervisor
