#include "supervisor/verify/canonical_json.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace paddock::supervisor {
namespace {

using nlohmann::json;

// As Python's repr: the fewest digits that give the number back, and an exponent only from 1e16 on
// and below 1e-4.
void append_number(double number, std::string& out) {
  constexpr int first_with_exponent = 16;
  constexpr int last_with_exponent = -5;
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                 std::chars_format::scientific);
  std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  if (text.starts_with('-')) {
    out += '-';
    text.remove_prefix(1);
  }
  const std::size_t e = text.find('e');
  const int exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  std::string digits(text.substr(0, 1));
  if (e > 2) digits += text.substr(2, e - 2);  // after the point
  if (exponent >= first_with_exponent || exponent <= last_with_exponent) {
    out += text.substr(0, e);
    out += exponent < 0 ? "e-" : "e+";
    const std::string power = std::to_string(std::abs(exponent));
    if (power.size() < 2) out += '0';
    out += power;
  } else if (exponent < 0) {
    out += "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  } else {
    const auto whole = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() < whole) digits.append(whole - digits.size(), '0');
    out += digits.substr(0, whole) + '.';
    out += digits.size() > whole ? digits.substr(whole) : "0";
  }
}

// Depth is bounded by whoever read the value.
void append(const json& value, std::string& out) {
  char separator = 0;
  switch (value.type()) {
    case json::value_t::object:
      separator = '{';
      for (const auto& entry : value.items()) {
        out += std::exchange(separator, ',');
        out += json(entry.key()).dump();
        out += ':';
        append(entry.value(), out);
      }
      out += separator == '{' ? "{}" : "}";
      break;
    case json::value_t::array:
      separator = '[';
      for (const json& element : value) {
        out += std::exchange(separator, ',');
        append(element, out);
      }
      out += separator == '[' ? "[]" : "]";
      break;
    case json::value_t::number_float:
      append_number(value.get<double>(), out);
      break;
    case json::value_t::binary:
      out.append(value.get_binary().begin(), value.get_binary().end());
      break;
    case json::value_t::null:
    case json::value_t::string:
    case json::value_t::boolean:
    case json::value_t::number_integer:
    case json::value_t::number_unsigned:
    case json::value_t::discarded:
      out += value.dump();
      break;
  }
}

}  // namespace

std::string canonical_json(const json& value) {
  std::string out;
  append(value, out);
  return out;
}

}  // namespace paddock::supervisor
