// The exit codes are a contract: every cause, in both styles.

#include "supervisor/cli/exit_code.hpp"

#include <cerrno>
#include <csignal>

#include "support/catch.hpp"

using namespace paddock::supervisor::cli;
using paddock::kernel::Cause;
using paddock::kernel::ErrorCode;
using paddock::kernel::SandboxResult;

namespace {

struct Row {
  Cause cause;
  int exit_code;
  int signal;
  int exec_error;
  int paddock;
  int program;
};

const Row rows[] = {
    {Cause::exited, 0, 0, 0, 0, 0},
    {Cause::exited, 7, 0, 0, 2, 7},
    {Cause::exited, 255, 0, 0, 2, 255},
    {Cause::signaled, -SIGSEGV, SIGSEGV, 0, 2, 139},
    {Cause::wall_clock, -SIGKILL, SIGKILL, 0, 2, 124},
    {Cause::wall_clock, 0, 0, 0, 2, 124},  // it exited with 0 in its grace
    {Cause::host_overloaded, -SIGTERM, SIGTERM, 0, 1, 124},
    {Cause::cpu_limit, -SIGKILL, SIGKILL, 0, 2, 137},
    {Cause::memory_limit, -SIGKILL, SIGKILL, 0, 2, 137},
    {Cause::memory_limit, -SIGKILL, 0, 0, 2, 137},  // killed before it could say
    {Cause::memory_limit, 0, 0, 0, 2, 137},         // a child of its died
    {Cause::pids_limit, 1, 0, 0, 2, 1},
    {Cause::pids_limit, -SIGABRT, SIGABRT, 0, 2, 134},
    {Cause::file_size_limit, -SIGXFSZ, SIGXFSZ, 0, 2, 153},
    {Cause::syscall_denied, -SIGSYS, SIGSYS, 0, 2, 159},
    {Cause::output_limit, -SIGTERM, SIGTERM, 0, 2, 143},
    {Cause::output_limit, 0, 0, 0, 2, 143},  // it handled SIGTERM
    {Cause::killed_by_request, 0, 0, 0, 2, 143},
    {Cause::killed_by_request, -SIGKILL, SIGKILL, 0, 2, 137},
    {Cause::shutdown, -SIGTERM, SIGTERM, 0, 2, 143},
    {Cause::cannot_execute, 127, 0, ENOENT, 2, 127},
    {Cause::cannot_execute, 127, 0, EACCES, 2, 126},
    {Cause::cannot_isolate, -1, 0, 0, 3, 3},
    {Cause::tampered, -9, 0, 0, 2, 2},
    {Cause::daemon_restart, -9, 0, 0, 1, 1},
    {Cause::internal, -9, 0, 0, 1, 1},
};

}  // namespace

TEST_CASE("each cause has its exit code") {
  for (const Row& row : rows) {
    SandboxResult result;
    result.cause = row.cause;
    result.exit_code = row.exit_code;
    result.signal = row.signal;
    result.exec_error = row.exec_error;
    INFO(paddock::kernel::name_of(row.cause));
    CHECK(exit_code_of(result, ExitStyle::paddock) == row.paddock);
    CHECK(exit_code_of(result, ExitStyle::program) == row.program);
  }
}

TEST_CASE("an error is 3 if the host cannot isolate, and otherwise 1") {
  CHECK(exit_code_of({ErrorCode::sandbox_not_available, ""}) == 3);
  for (const ErrorCode code :
       {ErrorCode::invalid_request, ErrorCode::sandbox_policy_error, ErrorCode::unknown_profile,
        ErrorCode::too_busy, ErrorCode::io, ErrorCode::internal})
    CHECK(exit_code_of({code, ""}) == 1);
}
