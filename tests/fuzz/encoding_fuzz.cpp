// Goal: bytes survive their way through base64 and JSON, and sizes and times through their text.

#include <nlohmann/json.hpp>

#include "fuzz/property.hpp"
#include "kernel/policy/units.hpp"
#include "supervisor/json/encoding.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using fuzz::must_hold;

namespace {

void check_base64(std::string_view bytes) {
  const auto decoded = from_base64(to_base64(bytes));
  must_hold(decoded && *decoded == bytes, "base64 is undone by itself");
  if (const auto text = from_base64(bytes))
    must_hold(to_base64(*text) == bytes, "only canonical base64 is accepted");
}

void check_utf8(std::string_view bytes) {
  const nlohmann::json value = std::string(bytes);
  bool can_be_json = true;
  try {
    const std::string text = value.dump();
    must_hold(nlohmann::json::parse(text) == value, "JSON is undone by itself");
  } catch (const nlohmann::json::exception&) {
    can_be_json = false;
  }
  must_hold(is_utf8(bytes) == can_be_json, "UTF-8 is what JSON takes");
}

void check_units(std::string_view text) {
  if (const auto bytes = kernel::parse_bytes(text)) {
    const auto again = kernel::parse_bytes(kernel::format_bytes(*bytes));
    must_hold(again && *again == *bytes, "a printed size is the same size");
  }
  if (const auto time = kernel::parse_duration(text)) {
    must_hold(time->count() >= 1 && *time <= kernel::duration_max, "a time is within its bounds");
    const auto again = kernel::parse_duration(kernel::format_duration(*time));
    must_hold(again && *again == *time, "a printed time is the same time");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::as_text(data, size);
  check_base64(bytes);
  check_utf8(bytes);
  check_units(bytes);
  return 0;
}
