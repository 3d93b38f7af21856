#include "supervisor/doors/json_body.hpp"

#include <fmt/format.h>

#include "supervisor/json/fields.hpp"

namespace paddock::supervisor::doors {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

namespace {

constexpr int nesting_max = 8;  // the deepest of these messages has three levels

const Json* value_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

}  // namespace

Result<Json> parse_body(std::string_view body) {
  bool too_deep = false;
  const auto watch = [&too_deep](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > nesting_max;
    return !too_deep;  // what is left out takes no memory
  };
  Json object = Json::parse(body, watch, /*allow_exceptions=*/false);
  if (too_deep) return fail(ErrorCode::invalid_request, "the body is nested too deeply");
  if (object.is_discarded()) return fail(ErrorCode::invalid_request, "the body is not valid JSON");
  if (!object.is_object())
    return fail(ErrorCode::invalid_request, "the body must be a JSON object");
  return object;
}

Result<std::string> text(const Json& object, const char* key, std::string absent) {
  const Json* value = value_of(object, key);
  return value == nullptr ? absent : json_text(key, *value);
}

Result<std::string> needed_text(const Json& object, const char* key) {
  if (value_of(object, key) == nullptr)
    return fail(ErrorCode::invalid_request, fmt::format("the key '{}' is missing", key));
  return text(object, key, {});
}

Result<double> number(const Json& object, const char* key, double absent) {
  const Json* value = value_of(object, key);
  if (value == nullptr) return absent;
  if (!value->is_number()) return wrong_value(key, "a number");
  return value->get<double>();
}

Result<std::vector<std::string>> texts(const Json& object, const char* key) {
  const Json* value = value_of(object, key);
  return value == nullptr ? std::vector<std::string>() : json_texts(key, *value);
}

}  // namespace paddock::supervisor::doors
