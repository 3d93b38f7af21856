#include <cerrno>
#include <csignal>

#include "kernel/policy/scratch_directory.hpp"
#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

void check_cannot_execute(const SandboxResult& result, int error) {
  CHECK(result.cause == Cause::cannot_execute);
  CHECK(result.exec_error == error);
  CHECK(result.exit_code == 127);
  CHECK_FALSE(result.killed);
  CHECK(result.stdout.empty());
  CHECK(result.stderr.empty());
}

}  // namespace

TEST_CASE("a program that cannot be executed is told apart from every exit code") {
  const ScratchDirectory scratch;
  ScratchDirectory::set_mode(scratch.path(), 0755);
  const std::string plain_file = scratch.file("plain", "#!/bin/sh\nexit 0\n");
  for (const char* profile : profiles) {
    INFO(profile);
    SandboxPolicy policy = policy_of(profile);
    if (policy.use_bubblewrap) policy.bind_ro.push_back(scratch.path());
    check_cannot_execute(run(policy, {"no-such-program"}), ENOENT);
    check_cannot_execute(run(policy, {"/usr/bin/no-such-program"}), ENOENT);
    check_cannot_execute(run(policy, {plain_file}), EACCES);
    check_cannot_execute(run(policy, {"/usr/bin"}), EACCES);
    check_cannot_execute(run(policy, {"/usr/bin/true/x"}), ENOTDIR);
    for (const int code : {0, 1, 126, 127, 139, 255}) {
      const SandboxResult result = run(policy, {"sh", "-c", "exit " + std::to_string(code)});
      CHECK(result.cause == Cause::exited);
      CHECK(result.exit_code == code);
      CHECK(result.exec_error == 0);
    }
  }
}

TEST_CASE("the detail of a failed execution names the program and the reason") {
  const SandboxResult result = run(policy_of("STRICT"), {"no-such-program"});
  CHECK(result.detail ==
        "execute the program: No such file or directory (program 'no-such-program', directory "
        "'/workspace')");
}

TEST_CASE("a program that dies of a signal is told apart from exit codes above 128") {
  for (const char* profile : profiles) {
    INFO(profile);
    const SandboxResult segv = run(policy_of(profile), {"sh", "-c", "kill -SEGV $$"});
    CHECK(segv.cause == Cause::signaled);
    CHECK(segv.signal == SIGSEGV);
    CHECK(segv.exit_code == -SIGSEGV);
    CHECK(segv.detail == "SIGSEGV");
    CHECK_FALSE(segv.killed);
    const SandboxResult exited = run(policy_of(profile), {"sh", "-c", "exit 139"});
    CHECK(exited.cause == Cause::exited);
    CHECK(exited.signal == 0);
    CHECK(exited.exit_code == 139);
  }
}

TEST_CASE("a SIGKILL that nobody here sent is no limit and no deadline") {
  for (const char* profile : profiles) {
    INFO(profile);
    const SandboxResult result = run(policy_of(profile), {"sh", "-c", "kill -KILL $$"});
    CHECK(result.cause == Cause::signaled);
    CHECK(result.signal == SIGKILL);
    CHECK_FALSE(result.rlimit_hit);
    CHECK_FALSE(result.timed_out);
  }
}

TEST_CASE("a working directory that is not there is cannot_execute, with the directory") {
  const SandboxResult result = run(policy_of("DEFAULT"), {"true"}, {.cwd = "/nonexistent"});
  check_cannot_execute(result, ENOENT);
  CHECK(result.detail ==
        "enter the working directory: No such file or directory (program 'true', directory "
        "'/nonexistent')");
}

TEST_CASE("arguments reach the program as they are") {
  const std::string odd = "a b\n'\"$HOME \xff";
  for (const char* profile : profiles) {
    INFO(profile);
    CHECK(run(policy_of(profile), {"printf", "%s|", odd, "", "--", "-x"}).stdout ==
          odd + "||--|-x|");
  }
}

TEST_CASE("eight thousand arguments reach the program") {
  // Goal: bubblewrap itself takes at most 9000; the program's do not go through it.
  for (const char* profile : profiles) {
    INFO(profile);
    Argv argv = {"sh", "-c", "echo $#", "sh"};
    for (int i = 0; i < 8000; ++i) argv.push_back("argument-" + std::to_string(i));
    CHECK(run(policy_of(profile), argv).stdout == "8000\n");
  }
}
