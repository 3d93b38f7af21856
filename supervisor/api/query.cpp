#include "supervisor/api/query.hpp"

#include <fmt/format.h>

#include <charconv>

namespace paddock::supervisor {

using kernel::ErrorCode;
using kernel::Result;

Result<std::optional<unsigned>> query_number(const HttpRequest& request, const std::string& name,
                                             unsigned max) {
  const auto at = request.query.find(name);
  if (at == request.query.end()) return std::optional<unsigned>();
  unsigned value = 0;
  const std::string& text = at->second;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value > max)
    return kernel::fail(ErrorCode::invalid_request,
                        fmt::format("{}: must be a whole number up to {}", name, max));
  return std::optional<unsigned>(value);
}

Result<bool> query_truth(const HttpRequest& request, const std::string& name) {
  const auto at = request.query.find(name);
  if (at == request.query.end() || at->second == "false") return false;
  if (at->second == "true") return true;
  return kernel::fail(ErrorCode::invalid_request, fmt::format("{}: must be true or false", name));
}

}  // namespace paddock::supervisor
