#include "supervisor/api/errors.hpp"

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

}  // namespace paddock::supervisor
