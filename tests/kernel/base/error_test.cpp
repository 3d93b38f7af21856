#include "kernel/base/error.hpp"

#include <cerrno>

#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

Result<int> half_of(Result<int> number) {
  const int value = TRY(number);
  if (value % 2 != 0) return fail(ErrorCode::invalid_request, "odd");
  return value / 2;
}

}  // namespace

TEST_CASE("an error of a system call says what was tried and why it failed") {
  errno = ENOENT;
  const tl::unexpected<Error> error = fail_errno("open 'a.toml'");
  CHECK(error.value() == Error{ErrorCode::io, "open 'a.toml': No such file or directory"});
}

TEST_CASE("TRY gives the value, or hands the error on") {
  CHECK(half_of(8) == 4);
  CHECK(half_of(7).error().message == "odd");
  CHECK(half_of(fail(ErrorCode::too_busy, "later")).error() == Error{ErrorCode::too_busy, "later"});
}

TEST_CASE("each error code has the name that the API shows") {
  CHECK(name_of(ErrorCode::invalid_request) == "invalid_request");
  CHECK(name_of(ErrorCode::sandbox_policy_error) == "sandbox_policy_error");
  CHECK(name_of(ErrorCode::sandbox_not_available) == "sandbox_not_available");
  CHECK(name_of(ErrorCode::unknown_profile) == "unknown_profile");
  CHECK(name_of(ErrorCode::unknown_agent) == "unknown_agent");
  CHECK(name_of(ErrorCode::not_found) == "not_found");
  CHECK(name_of(ErrorCode::too_busy) == "too_busy");
  CHECK(name_of(ErrorCode::draining) == "draining");
  CHECK(name_of(ErrorCode::io) == "io");
  CHECK(name_of(ErrorCode::internal) == "internal");
}
