#pragma once
// The body of a verify request as JSON values. What is wrong within one element of "items" spoils
// that element alone, as far as a JSON parser can go on after it.

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kernel/base/error.hpp"

namespace paddock::supervisor {

constexpr std::size_t document_nesting_max = 128;
constexpr std::size_t document_values_max = 8'000'000;  // each costs memory beyond its text

struct Document {
  nlohmann::json root;                           // an object
  std::map<std::size_t, std::string> bad_items;  // index -> why
};

// Integers that do not fit into 64 bits become binary values that hold their digits. Fails with
// invalid_request.
kernel::Result<Document> read_document(std::string_view body);

}  // namespace paddock::supervisor
