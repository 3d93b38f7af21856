#pragma once
// render(): from one of the API's answers to something else, where nlohmann's exceptions end. For
// .cpp files that look into JSON.

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "kernel/base/error.hpp"

namespace paddock::supervisor::cli {

// Calls `make` with the parsed text. Fails with internal if it is not JSON or lacks what `make`
// looks for: then the daemon is of another version.
template <class T, class Make>
kernel::Result<T> render(std::string_view text, Make make) {
  try {
    return make(nlohmann::ordered_json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    return kernel::fail(kernel::ErrorCode::internal,
                        std::string("the daemon's answer is not understood: ") + error.what());
  }
}

}  // namespace paddock::supervisor::cli
