#include "supervisor/json/fields.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "kernel/policy/names.hpp"
#include "kernel/policy/units.hpp"
#include "supervisor/json/encoding.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using nlohmann::json;

std::string inside(const std::string& place, const std::string& key) {
  return place.empty() ? key : place + "." + key;
}

}  // namespace

tl::unexpected<kernel::Error> wrong_value(const std::string& place, std::string_view wanted) {
  return fail(ErrorCode::invalid_request, fmt::format("{}: must be {}", place, wanted));
}

Result<std::string> json_text(const std::string& place, const json& value) {
  if (!value.is_string()) return wrong_value(place, "a string");
  return value.get<std::string>();
}

Result<std::vector<std::string>> json_texts(const std::string& place, const json& value) {
  if (!value.is_array()) return wrong_value(place, "an array of strings");
  std::vector<std::string> out;
  for (const json& element : value) {
    if (!element.is_string()) return wrong_value(place, "an array of strings");
    out.push_back(element.get<std::string>());
  }
  return out;
}

Result<std::string> json_base64(const std::string& place, const json& value) {
  auto bytes = from_base64(TRY(json_text(place, value)));
  if (!bytes) return wrong_value(place, "base64");
  return bytes;
}

Result<std::string> json_bytes(const std::string& place, const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object()) return wrong_value(place, "a string, or {\"b64\": \"...\"}");
  std::string bytes;
  TRY_VOID(read_json_object(place, value, {json_required(json_into("b64", bytes, json_base64))}));
  return bytes;
}

Result<bool> json_flag(const std::string& place, const json& value) {
  if (!value.is_boolean()) return wrong_value(place, "true or false");
  return value.get<bool>();
}

Result<std::uint64_t> json_count(const std::string& place, const json& value) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1)
    return wrong_value(place, "a whole number of 1 or more");
  return value.get<std::uint64_t>();
}

Result<std::uint64_t> json_size(const std::string& place, const json& value) {
  if (!value.is_string()) return json_count(place, value);
  auto parsed = kernel::parse_bytes(value.get<std::string>());
  if (!parsed) return fail(ErrorCode::invalid_request, place + ": " + parsed.error().message);
  if (*parsed < 1) return wrong_value(place, "1 byte or more");
  return parsed;
}

Result<std::chrono::milliseconds> json_duration(const std::string& place, const json& value) {
  if (!value.is_number() && !value.is_string())
    return wrong_value(place, "a number of seconds, or text such as \"1.5s\"");
  auto parsed = value.is_string()
                    ? kernel::parse_duration(value.get<std::string>())
                    : kernel::parse_duration(fmt::format("{:f}", value.get<double>()));
  if (!parsed) return fail(ErrorCode::invalid_request, place + ": " + parsed.error().message);
  return parsed;
}

JsonField json_required(JsonField field) {
  field.required = true;
  return field;
}

JsonField json_ignored(const char* key) {
  return {key, [](const std::string&, const json&) -> Result<void> { return {}; }, false};
}

Result<void> read_json_object(const std::string& place, const json& object,
                              const std::vector<JsonField>& fields) {
  if (!object.is_object()) return wrong_value(place, "an object");
  for (const auto& entry : object.items()) {
    const std::string& key = entry.key();  // no structured binding: clang 14 captures none
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const JsonField& known) { return key == known.key; });
    if (field == fields.end()) {
      std::vector<std::string> known;
      for (const JsonField& each : fields) known.emplace_back(each.key);
      const std::string nearest = kernel::nearest_name(key, known);
      return fail(
          ErrorCode::invalid_request,
          fmt::format("unknown key '{}'", inside(place, key)) +
              (nearest.empty() ? "" : fmt::format("; did you mean '{}'?", inside(place, nearest))));
    }
    TRY_VOID(field->store(inside(place, key), entry.value()));
  }
  for (const JsonField& field : fields)
    if (field.required && !object.contains(field.key))
      return fail(ErrorCode::invalid_request,
                  fmt::format("the key '{}' is missing", inside(place, field.key)));
  return {};
}

Result<std::size_t> json_index_of(const std::string& place, const json& value,
                                  const std::vector<std::string>& names) {
  const std::string wanted = kernel::quoted_list(names);
  if (!value.is_string()) return wrong_value(place, "one of " + wanted);
  const auto name = value.get<std::string>();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::string nearest = kernel::nearest_name(name, names);
  return fail(ErrorCode::invalid_request,
              nearest.empty()
                  ? fmt::format("{}: '{}' is none of {}", place, name, wanted)
                  : fmt::format("{}: '{}' is not known; did you mean '{}'?", place, name, nearest));
}

}  // namespace paddock::supervisor
