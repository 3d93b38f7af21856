#include "kernel/run/result.hpp"

#include <cerrno>
#include <csignal>

#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

SandboxResult result_of(Cause cause, std::optional<Exit> exit = std::nullopt) {
  Ending ending;
  ending.cause = cause;
  ending.exit = exit;
  SandboxResult result;
  apply_ending(ending, result);
  return result;
}

}  // namespace

TEST_CASE("an exit code is passed on as it is") {
  for (const int code : {0, 1, 127, 139, 255}) {
    const SandboxResult result = result_of(Cause::exited, Exit{.code = code});
    CHECK(result.exit_code == code);
    CHECK(result.signal == 0);
    CHECK_FALSE(result.killed);
    CHECK_FALSE(result.timed_out);
    CHECK_FALSE(result.rlimit_hit);
  }
}

TEST_CASE("a signal is a negative exit code, never folded into 128 and more") {
  const SandboxResult result = result_of(Cause::signaled, Exit{.signal = SIGSEGV});
  CHECK(result.exit_code == -SIGSEGV);
  CHECK(result.signal == SIGSEGV);
  CHECK_FALSE(result.killed);
}

TEST_CASE("a limit that ended the run has its name in rlimit_hit") {
  CHECK(result_of(Cause::cpu_limit, Exit{.signal = SIGKILL}).rlimit_hit == "cpu");
  CHECK(result_of(Cause::memory_limit, Exit{.signal = SIGKILL}).rlimit_hit == "memory");
  CHECK(result_of(Cause::file_size_limit, Exit{.signal = SIGXFSZ}).rlimit_hit == "fsize");
  for (const Cause cause : {Cause::cpu_limit, Cause::memory_limit, Cause::file_size_limit})
    CHECK(result_of(cause, Exit{.signal = SIGKILL}).killed);
}

TEST_CASE("only the wall clock is a timeout") {
  CHECK(result_of(Cause::wall_clock, Exit{.code = 7}).timed_out);
  CHECK(result_of(Cause::wall_clock, Exit{.code = 7}).killed);
  CHECK(result_of(Cause::wall_clock, Exit{.code = 7}).exit_code == 7);
  CHECK(result_of(Cause::host_overloaded, Exit{.code = 7}).timed_out);
  CHECK(result_of(Cause::host_overloaded, Exit{.code = 7}).killed);
  CHECK_FALSE(result_of(Cause::killed_by_request, Exit{.signal = SIGKILL}).timed_out);
  CHECK(result_of(Cause::killed_by_request, Exit{.signal = SIGKILL}).killed);
  CHECK(result_of(Cause::shutdown).killed);
  CHECK(result_of(Cause::tampered).killed);
  CHECK_FALSE(result_of(Cause::pids_limit, Exit{.code = 1}).killed);  // it gave up by itself
  CHECK_FALSE(result_of(Cause::pids_limit, Exit{.code = 1}).rlimit_hit);
}

TEST_CASE("a program that never ran has no exit code of its own") {
  CHECK(result_of(Cause::cannot_execute).exit_code == 127);
  CHECK(result_of(Cause::cannot_isolate).exit_code == -1);
  CHECK(result_of(Cause::cannot_isolate, Exit{.code = 1}).exit_code == -1);
  CHECK_FALSE(result_of(Cause::cannot_execute).killed);
  CHECK_FALSE(result_of(Cause::cannot_isolate).killed);
}

TEST_CASE("a run that was killed before it could say how it ended is -9") {
  CHECK(result_of(Cause::wall_clock).exit_code == -9);
  CHECK(result_of(Cause::tampered).exit_code == -9);
  CHECK(result_of(Cause::tampered, Exit{.code = 0}).exit_code == -9);  // it is not believed
}

TEST_CASE("an ending is carried over whole") {
  Ending ending;
  ending.cause = Cause::cannot_execute;
  ending.detail = "execute the program: No such file or directory";
  ending.exec_error = ENOENT;
  ending.output_held_open = true;
  ending.survivors_unproved = true;
  ending.exit = Exit{.code = 127,
                     .own_cpu_us = 5,
                     .cpu_user_us = 10,
                     .cpu_system_us = 20,
                     .max_rss_kib = 30,
                     .written_bytes = 40};
  SandboxResult expected;
  expected.exit_code = 127;
  expected.cause = Cause::cannot_execute;
  expected.detail = ending.detail;
  expected.exec_error = ENOENT;
  expected.output_held_open = true;
  expected.survivors_unproved = true;
  expected.cpu_user_us = 10;
  expected.cpu_system_us = 20;
  expected.max_rss_bytes = 30 * 1024;
  expected.written_bytes = 40;
  SandboxResult result;
  apply_ending(ending, result);
  CHECK(result == expected);
}
