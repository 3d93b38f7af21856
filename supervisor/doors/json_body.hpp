#pragma once
// JSON bodies of the doors' calls. Included by the doors' own parsers and renderers alone:
// nlohmann's header is large. Nothing here throws.

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/error.hpp"

namespace paddock::supervisor::doors {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

// Fails with invalid_request if it is no JSON object, or nested too deeply.
kernel::Result<Json> parse_body(std::string_view body);

// Each takes the value of a key that may be absent or null, and then is what is given for that. All
// fail with invalid_request and name the key.
kernel::Result<std::string> text(const Json& object, const char* key, std::string absent);
kernel::Result<double> number(const Json& object, const char* key, double absent);
kernel::Result<std::vector<std::string>> texts(const Json& object, const char* key);
// One that must be there.
kernel::Result<std::string> needed_text(const Json& object, const char* key);

}  // namespace paddock::supervisor::doors
