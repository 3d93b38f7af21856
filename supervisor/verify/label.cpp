#include "supervisor/verify/label.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "supervisor/json/fields.hpp"
#include "supervisor/verify/item.hpp"

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;
using nlohmann::json;

// C0, DEL, and in UTF-8 C1: what a terminal or a line of text would take for an order.
bool has_control_character(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return true;
    if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0)
      return true;
  }
  return false;
}

}  // namespace

Result<std::string> json_label(const std::string& place, const json& value) {
  std::string label = TRY(json_text(place, value));
  if (label.empty()) return fail(ErrorCode::invalid_request, place + ": must not be empty");
  if (label.size() > id_bytes_max)
    return wrong_value(place, fmt::format("at most {} bytes", id_bytes_max));
  if (has_control_character(label)) return wrong_value(place, "without control characters");
  return label;
}

}  // namespace paddock::supervisor
