#include "supervisor/api/errors.hpp"

#include "support/catch.hpp"

using namespace paddock::supervisor;
using paddock::kernel::ErrorCode;

TEST_CASE("each error code has the HTTP status and the name of RFC 0002's table") {
  const struct {
    ErrorCode code;
    int status;
    const char* name;
  } table[] = {
      {ErrorCode::invalid_request, 400, "invalid_request"},
      {ErrorCode::sandbox_policy_error, 422, "sandbox_policy_error"},
      {ErrorCode::sandbox_not_available, 501, "sandbox_not_available"},
      {ErrorCode::unknown_profile, 404, "unknown_profile"},
      {ErrorCode::unknown_agent, 404, "unknown_agent"},
      {ErrorCode::not_found, 404, "not_found"},
      {ErrorCode::too_busy, 429, "too_busy"},
      {ErrorCode::draining, 503, "draining"},
      {ErrorCode::io, 500, "io"},
      {ErrorCode::internal, 500, "internal"},
  };
  for (const auto& row : table) {
    INFO(row.name);
    CHECK(http_status(row.code) == row.status);
    CHECK(paddock::kernel::name_of(row.code) == row.name);
  }
}
