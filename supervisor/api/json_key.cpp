// Keys -> JSON.

#include <nlohmann/json.hpp>

#include "supervisor/api/json.hpp"
#include "supervisor/json/dump.hpp"

namespace paddock::supervisor {

using nlohmann::ordered_json;

std::string made_key_to_json(const std::string& tenant, const MacKey& key) {
  return dump_line({{"tenant", tenant}, {"key_id", key.id}, {"key", to_hex(key)}});
}

std::string key_id_to_json(const std::string& tenant, const std::optional<MacKey>& key) {
  ordered_json object = {{"tenant", tenant}, {"key_id", nullptr}};
  if (key) object["key_id"] = key->id;
  return dump_line(object);
}

}  // namespace paddock::supervisor
