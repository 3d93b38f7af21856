#include "supervisor/json/bytes.hpp"

#include <nlohmann/json.hpp>

#include "supervisor/json/encoding.hpp"

namespace paddock::supervisor {

using nlohmann::ordered_json;

namespace {

std::string base64_key_of(const std::string& key) {
  return key + "_base64";
}

}  // namespace

void add_bytes(ordered_json& object, const std::string& key, std::string_view bytes) {
  add_bytes(object, key, base64_key_of(key), bytes);
}

bool has_bytes(const ordered_json& object, const std::string& key) {
  return object.contains(key) || object.contains(base64_key_of(key));
}

kernel::Result<std::string> bytes_at(const ordered_json& object, const std::string& key) {
  return bytes_at(object, key, base64_key_of(key));
}

void add_bytes(ordered_json& object, const std::string& key, const std::string& base64_key,
               std::string_view bytes) {
  if (goes_as_text(bytes)) {
    object[key] = bytes;
  } else {
    object[base64_key] = to_base64(bytes);
  }
}

kernel::Result<std::string> bytes_at(const ordered_json& object, const std::string& key,
                                     const std::string& base64_key) {
  if (object.contains(key)) return object.at(key).get<std::string>();
  return from_base64(object.at(base64_key).get<std::string>());
}

}  // namespace paddock::supervisor
