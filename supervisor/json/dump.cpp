#include "supervisor/json/dump.hpp"

#include <nlohmann/json.hpp>

namespace paddock::supervisor {
namespace {

using nlohmann::ordered_json;

std::string dump_with(const ordered_json& value, int indent) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, ordered_json::error_handler_t::replace);
}

}  // namespace

std::string dump(const ordered_json& value) {
  return dump_with(value, -1);
}

std::string dump_line(const ordered_json& value) {
  return dump_with(value, -1) + "\n";
}

std::string dump_indented(const ordered_json& value) {
  return dump_with(value, 2) + "\n";
}

}  // namespace paddock::supervisor
