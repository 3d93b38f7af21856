#pragma once
// What a request target says: its path and its query.

#include <map>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "supervisor/http/request.hpp"

namespace paddock::supervisor {

struct Target {
  std::string path;
  std::map<std::string, std::string> query;

  bool operator==(const Target&) const = default;
};

// Splits "/v1/runs?state=running" and decodes %XX in both parts, and + as a space in the query.
// Refuses (status 400) a target that does not start with '/', one with a fragment or a character
// outside printable ASCII, a wrong escape, an escaped NUL, and a query name that occurs twice:
// which of the two was meant is a guess.
tl::expected<Target, HttpError> parse_target(std::string_view target);

}  // namespace paddock::supervisor
