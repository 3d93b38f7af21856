#include "supervisor/api/errors.hpp"

#include <fmt/format.h>

#include "kernel/policy/names.hpp"

namespace paddock::supervisor {

int http_status(kernel::ErrorCode code) {
  using kernel::ErrorCode;
  switch (code) {
    case ErrorCode::invalid_request:
      return 400;
    case ErrorCode::sandbox_policy_error:
      return 422;
    case ErrorCode::sandbox_not_available:
      return 501;
    case ErrorCode::unknown_profile:
    case ErrorCode::unknown_agent:
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::forbidden:
      return 403;
    case ErrorCode::too_busy:
      return 429;
    case ErrorCode::draining:
    case ErrorCode::not_recorded:
      return 503;
    case ErrorCode::io:
    case ErrorCode::internal:
      return 500;
  }
  return 500;
}

std::string unknown_name(std::string_view kind, const std::string& name,
                         const std::vector<std::string>& known) {
  const std::string nearest = kernel::nearest_name(name, known);
  if (!nearest.empty())
    return fmt::format("unknown {} '{}'; did you mean '{}'?", kind, name, nearest);
  if (known.empty()) return fmt::format("unknown {} '{}'; there are none", kind, name);
  return fmt::format("unknown {} '{}'; known are {}", kind, name, kernel::quoted_list(known));
}

}  // namespace paddock::supervisor
