#pragma once
// What is not there, in JSON: null. For .cpp files that write JSON.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace paddock::supervisor {

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

// Where the empty text stands for none.
inline nlohmann::ordered_json or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

}  // namespace paddock::supervisor
