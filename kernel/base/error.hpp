#pragma once
// The one error type of the project.
//
// A function that can fail for a reason outside the program returns Result<T>. A broken invariant
// is a bug and is asserted. A run that ended badly is not an error: it is an Ending. Library
// exceptions (toml++, nlohmann) are caught in the file that includes the library and become an
// Error there.

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace paddock::kernel {

// What the caller can do about it. The API maps each code to an HTTP status
// (supervisor/api/errors.hpp) and the CLI to an exit code (supervisor/cli/exit_code.hpp). The names
// are a contract with clients: codes are added, never renamed.
enum class ErrorCode {
  invalid_request,        // malformed: fix the request
  sandbox_policy_error,   // well-formed, but the policy is not valid or not allowed
  sandbox_not_available,  // this host cannot give the isolation asked for; nothing ran
  unknown_profile,        // no such profile
  unknown_agent,          // no such agent template
  not_found,              // no such run
  forbidden,              // this caller may not ask for it
  too_busy,               // a queue or table is full: try again later
  draining,               // the daemon takes nothing new: it is drained, or ends
  not_recorded,           // the ledger cannot take it; a run that it was for did not start
  io,                     // a system call failed
  internal,               // a bug or a broken host
};

// The name of a code as it appears in JSON ("sandbox_policy_error").
std::string_view name_of(ErrorCode code);

// What a program exits with that cannot have the isolation it needs: paddock's own, and an agent
// that says so.
constexpr int exit_cannot_isolate = 3;

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  // names the object and the cause: "open 'a.toml': No such file"

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

// "what: strerror(errno)", with code io. Call it before anything can change errno.
tl::unexpected<Error> fail_errno(std::string_view what);
std::string errno_text(int errno_value);

// For a system call without which there are no runs: sandbox_not_available if errno says that this
// kernel does not have it or a container's filter refuses it, else as fail_errno.
tl::unexpected<Error> fail_needed_call(std::string_view call);

}  // namespace paddock::kernel

// Yields the value of a Result, or returns its error from the enclosing function.
#define TRY(expression)                                                                   \
  __extension__({                                                                         \
    auto try_result = (expression);                                                       \
    if (!try_result) return tl::unexpected<::paddock::kernel::Error>(try_result.error()); \
    std::move(*try_result);                                                               \
  })

// The same for Result<void>.
#define TRY_VOID(expression)                                                              \
  do {                                                                                    \
    auto try_result = (expression);                                                       \
    if (!try_result) return tl::unexpected<::paddock::kernel::Error>(try_result.error()); \
  } while (false)
