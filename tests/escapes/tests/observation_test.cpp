#include "escapes/runner/observation.hpp"

#include <csignal>

#include "support/catch.hpp"

using namespace paddock::escapes;
using paddock::kernel::Cause;
using paddock::kernel::SandboxResult;
using Kind = Observation::Kind;

namespace {

SandboxResult exited_with(const std::string& output) {
  SandboxResult result;
  result.cause = Cause::exited;
  result.stdout = output;
  return result;
}

}  // namespace

TEST_CASE("a report is one line: what came of it, by what, and a detail") {
  CHECK(read_report("succeeded\n") == Observation{Kind::succeeded, "", ""});
  CHECK(read_report("succeeded fd 7\n") == Observation{Kind::succeeded, "", "fd 7"});
  CHECK(read_report("refused EPERM\n") == Observation{Kind::stopped, "EPERM", ""});
  CHECK(read_report("refused EAGAIN after 15") == Observation{Kind::stopped, "EAGAIN", "after 15"});
  CHECK(read_report("unsupported no such call\n") ==
        Observation{Kind::unsupported, "", "no such call"});
}

TEST_CASE("the last report counts, whatever else an attempt prints") {
  CHECK(read_report("ready\nxxxx\nrefused EACCES\n") == Observation{Kind::stopped, "EACCES", ""});
  CHECK(read_report("succeeded\nrefused ENOENT\nnoise\n").word == "ENOENT");
}

TEST_CASE("what is not a report is unclear, never a success") {
  for (const char* output :
       {"", "\n", "ready\n", "refused", "refused\n", "succeededly\n", "SUCCEEDED\n"}) {
    INFO(output);
    CHECK(read_report(output).kind == Kind::unclear);
  }
}

TEST_CASE("a limit that ended the run counts more than what the attempt said before") {
  SandboxResult result = exited_with("succeeded\n");
  CHECK(observe(result).kind == Kind::succeeded);
  result.cause = Cause::wall_clock;
  CHECK(observe(result) == Observation{Kind::stopped, "wall_clock", ""});
  result.cause = Cause::memory_limit;
  CHECK(observe(result).word == "memory_limit");
}

TEST_CASE("a run killed by the system call filter was stopped by SIGSYS") {
  SandboxResult result = exited_with("");
  result.cause = Cause::signaled;
  result.signal = SIGSYS;
  CHECK(observe(result) == Observation{Kind::stopped, "SIGSYS", ""});
}

TEST_CASE("another signal without a report stopped it too, with one it did not") {
  SandboxResult result = exited_with("");
  result.cause = Cause::signaled;
  result.signal = SIGKILL;
  CHECK(observe(result) == Observation{Kind::stopped, "SIGKILL", ""});
  result.stdout = "succeeded\n";
  CHECK(observe(result).kind == Kind::succeeded);
}

TEST_CASE("a launcher that was killed is a success of the attempt") {
  SandboxResult result = exited_with("refused EPERM\n");
  result.cause = Cause::tampered;
  CHECK(observe(result).kind == Kind::succeeded);
}

TEST_CASE("a run that never ran proves nothing") {
  for (const Cause cause : {Cause::cannot_isolate, Cause::cannot_execute, Cause::internal}) {
    SandboxResult result = exited_with("refused EPERM\n");
    result.cause = cause;
    CHECK(observe(result).kind == Kind::unclear);
  }
  CHECK(observe(exited_with("")).kind == Kind::unclear);
}

TEST_CASE("output beyond its limit was stopped by that") {
  SandboxResult result = exited_with("xxxx");
  result.stdout_truncated = true;
  CHECK(observe(result) == Observation{Kind::stopped, "truncated", ""});
}
