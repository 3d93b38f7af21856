#include "supervisor/cli/json_text.hpp"

#include <nlohmann/json.hpp>

#include "supervisor/cli/json_render.hpp"
#include "supervisor/json/dump.hpp"

namespace paddock::supervisor::cli {
namespace {

using kernel::Result;
using nlohmann::ordered_json;

template <class T>
Result<T> value_at(std::string_view text, std::initializer_list<const char*> keys) {
  return render<T>(text, [&](const ordered_json& whole) {
    const ordered_json* at = &whole;
    for (const char* key : keys) at = &at->at(key);
    return at->get<T>();
  });
}

}  // namespace

Result<std::string> text_at(std::string_view json, std::initializer_list<const char*> keys) {
  return value_at<std::string>(json, keys);
}

Result<bool> flag_at(std::string_view json, std::initializer_list<const char*> keys) {
  return value_at<bool>(json, keys);
}

std::string indented(std::string_view text) {
  const auto json = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return std::string(text);
  return dump_indented(json);
}

}  // namespace paddock::supervisor::cli
