#pragma once
// Bytes as a member of a JSON object: under one key as text, under another as base64 where they do
// not go as text.

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

#include "kernel/base/error.hpp"

namespace paddock::supervisor {

// Where the keys are `key` and `key`_base64.
void add_bytes(nlohmann::ordered_json& object, const std::string& key, std::string_view bytes);
bool has_bytes(const nlohmann::ordered_json& object, const std::string& key);
kernel::Result<std::string> bytes_at(const nlohmann::ordered_json& object, const std::string& key);

// Where they are two names of their own.
void add_bytes(nlohmann::ordered_json& object, const std::string& key,
               const std::string& base64_key, std::string_view bytes);

// Fails as from_base64() does; throws as ordered_json::at() does if it has neither key.
kernel::Result<std::string> bytes_at(const nlohmann::ordered_json& object, const std::string& key,
                                     const std::string& base64_key);

}  // namespace paddock::supervisor
