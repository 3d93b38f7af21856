#pragma once
// Reading JSON objects key by key. Every key is checked: an unknown one is a mistake, with the
// nearest known name. `place` is where a value stands ("tests.cases[3].stdin"), for messages.

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/error.hpp"

namespace paddock::supervisor {

tl::unexpected<kernel::Error> wrong_value(const std::string& place, std::string_view wanted);

// Each fails with invalid_request.
kernel::Result<std::string> json_text(const std::string& place, const nlohmann::json& value);
kernel::Result<std::vector<std::string>> json_texts(const std::string& place,
                                                    const nlohmann::json& value);
kernel::Result<std::string> json_base64(const std::string& place, const nlohmann::json& value);
// Text, or {"b64": "..."} for bytes.
kernel::Result<std::string> json_bytes(const std::string& place, const nlohmann::json& value);
kernel::Result<bool> json_flag(const std::string& place, const nlohmann::json& value);
kernel::Result<std::uint64_t> json_count(const std::string& place, const nlohmann::json& value);
kernel::Result<std::uint64_t> json_size(const std::string& place, const nlohmann::json& value);
kernel::Result<std::chrono::milliseconds> json_duration(const std::string& place,
                                                        const nlohmann::json& value);

// One row per key: its name, and what stores it.
struct JsonField {
  const char* key;
  std::function<kernel::Result<void>(const std::string& place, const nlohmann::json& value)> store;
  bool required = false;
};

template <class T, class Parse>
JsonField json_into(const char* key, T& target, Parse parse) {
  return {key,
          [&target, parse](const std::string& place,
                           const nlohmann::json& value) -> kernel::Result<void> {
            target = TRY(parse(place, value));
            return {};
          },
          false};
}

JsonField json_required(JsonField field);
JsonField json_ignored(const char* key);  // known, and read elsewhere

// `place` of the object itself; empty: the body.
kernel::Result<void> read_json_object(const std::string& place, const nlohmann::json& object,
                                      const std::vector<JsonField>& fields);

// Which of `names` the value is; fails with the names that there are.
kernel::Result<std::size_t> json_index_of(const std::string& place, const nlohmann::json& value,
                                          const std::vector<std::string>& names);

// The same of an enumeration.
template <class T, std::size_t Count, class Name>
kernel::Result<T> json_choice(const std::string& place, const nlohmann::json& value,
                              const T (&choices)[Count], Name name_of_choice) {
  std::vector<std::string> names;
  for (const T choice : choices) names.emplace_back(name_of_choice(choice));
  return choices[TRY(json_index_of(place, value, names))];
}

}  // namespace paddock::supervisor
