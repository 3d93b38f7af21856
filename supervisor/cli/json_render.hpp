#pragma once
// render(): from one of the API's answers to something else, where nlohmann's exceptions end. For
// .cpp files that look into JSON.

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "kernel/base/error.hpp"

namespace paddock::supervisor::cli {

// Numbers with a fraction or an exponent, in seconds and the like, are between these in every
// answer. Others would be undefined where a whole number is taken from them.
constexpr double fraction_min = 0;
constexpr double fraction_max = 2147483647;

// Calls `make` with the parsed text. Fails with internal if it is not JSON or lacks what `make`
// looks for: then the daemon is of another version.
template <class T, class Make>
kernel::Result<T> render(std::string_view text, Make make) {
  using nlohmann::ordered_json;
  bool is_in_range = true;
  const auto check = [&](int, ordered_json::parse_event_t event, const ordered_json& value) {
    if (event == ordered_json::parse_event_t::value && value.is_number_float()) {
      const auto number = value.template get<double>();
      is_in_range = is_in_range && number >= fraction_min && number <= fraction_max;
    }
    return true;
  };
  try {
    const ordered_json json = ordered_json::parse(text, check);
    if (!is_in_range)
      return kernel::fail(kernel::ErrorCode::internal,
                          "the daemon's answer is not understood: a number is out of range");
    return make(json);
  } catch (const nlohmann::json::exception& error) {
    return kernel::fail(kernel::ErrorCode::internal,
                        std::string("the daemon's answer is not understood: ") + error.what());
  }
}

}  // namespace paddock::supervisor::cli
