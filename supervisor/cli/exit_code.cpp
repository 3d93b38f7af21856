#include "supervisor/cli/exit_code.hpp"

#include <cerrno>
#include <csignal>

namespace paddock::supervisor::cli {
namespace {

using kernel::Cause;
using kernel::SandboxResult;

// As timeout(1), env(1) and shells number them.
constexpr int status_timed_out = 124;
constexpr int status_cannot_execute = 126;
constexpr int status_not_found = 127;
constexpr int status_of_signal = 128;

int paddock_code(const SandboxResult& result) {
  switch (result.cause) {
    case Cause::exited:
      return result.exit_code == 0 ? exit_success : exit_run_failed;
    case Cause::cannot_isolate:
      return exit_cannot_isolate;
    case Cause::host_overloaded:  // neither says anything about the program
    case Cause::daemon_restart:
    case Cause::internal:
      return exit_error;
    case Cause::signaled:
    case Cause::wall_clock:
    case Cause::cpu_limit:
    case Cause::memory_limit:
    case Cause::pids_limit:
    case Cause::file_size_limit:
    case Cause::output_limit:
    case Cause::syscall_denied:
    case Cause::killed_by_request:
    case Cause::shutdown:
    case Cause::cannot_execute:
    case Cause::tampered:
      return exit_run_failed;
  }
  return exit_error;
}

int program_code(const SandboxResult& result) {
  switch (result.cause) {
    case Cause::exited:
      return result.exit_code;
    case Cause::wall_clock:
    case Cause::host_overloaded:
      return status_timed_out;
    case Cause::cannot_execute:
      return result.exec_error == ENOENT || result.exec_error == ENOTDIR ? status_not_found
                                                                         : status_cannot_execute;
    case Cause::signaled:
    case Cause::cpu_limit:
    case Cause::memory_limit:
    case Cause::file_size_limit:
    case Cause::syscall_denied:
      return status_of_signal + (result.signal != 0 ? result.signal : SIGKILL);
    case Cause::pids_limit:  // ended by itself: with a code, or by a signal
      return result.signal != 0 ? status_of_signal + result.signal : result.exit_code;
    case Cause::output_limit:
    case Cause::killed_by_request:
    case Cause::shutdown:
      // It may have handled SIGTERM and exited with 0; that is still not the end it was asked for.
      return status_of_signal + (result.signal != 0 ? result.signal : SIGTERM);
    case Cause::cannot_isolate:
    case Cause::tampered:
    case Cause::daemon_restart:
    case Cause::internal:
      return paddock_code(result);
  }
  return exit_error;
}

}  // namespace

int exit_code_of(const kernel::Error& error) {
  return error.code == kernel::ErrorCode::sandbox_not_available ? exit_cannot_isolate : exit_error;
}

int exit_code_of(const SandboxResult& result, ExitStyle style) {
  return style == ExitStyle::program ? program_code(result) : paddock_code(result);
}

}  // namespace paddock::supervisor::cli
