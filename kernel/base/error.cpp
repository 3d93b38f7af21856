#include "kernel/base/error.hpp"

#include <cerrno>
#include <cstring>

namespace paddock::kernel {

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_request:
      return "invalid_request";
    case ErrorCode::sandbox_policy_error:
      return "sandbox_policy_error";
    case ErrorCode::sandbox_not_available:
      return "sandbox_not_available";
    case ErrorCode::unknown_profile:
      return "unknown_profile";
    case ErrorCode::unknown_agent:
      return "unknown_agent";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::forbidden:
      return "forbidden";
    case ErrorCode::too_busy:
      return "too_busy";
    case ErrorCode::draining:
      return "draining";
    case ErrorCode::not_recorded:
      return "not_recorded";
    case ErrorCode::io:
      return "io";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

std::string errno_text(int errno_value) {
  char buffer[128];
  return ::strerror_r(errno_value, buffer, sizeof buffer);  // GNU variant: returns the text
}

tl::unexpected<Error> fail_errno(std::string_view what) {
  const int saved = errno;
  return fail(ErrorCode::io, std::string(what) + ": " + errno_text(saved));
}

tl::unexpected<Error> fail_needed_call(std::string_view call) {
  if (errno != ENOSYS && errno != EPERM) return fail_errno(call);
  return fail(ErrorCode::sandbox_not_available,
              std::string(call) + ": " + errno_text(errno) +
                  ": every run needs this system call, of Linux 5.9 or earlier; is paddock in a "
                  "container whose filter keeps it away?");
}

}  // namespace paddock::kernel
