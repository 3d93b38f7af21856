#include "supervisor/runs/explain.hpp"

#include <cerrno>
#include <csignal>

#include "kernel/policy/policy.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using kernel::Cause;

namespace {

RunRecord ended(Cause cause) {
  kernel::SandboxPolicy policy;
  policy.profile = "STRICT";
  policy.cpu_seconds = 120;
  policy.memory_bytes = 512u << 20;
  policy.fsize_bytes = 64u << 20;
  policy.wall_clock = std::chrono::seconds(300);
  policy.output_stop_bytes = 1u << 20;
  policy.cgroup.memory_max = 256u << 20;
  policy.cgroup.pids_max = 64;
  policy.seccomp = kernel::SeccompUse::strict;
  RunRecord run;
  run.id = "r-0000000000000001";
  run.phase = RunPhase::finished;
  run.profile = "STRICT";
  run.argv = {"./tool"};
  run.policy_text = kernel::canonical_text(policy);
  run.result.emplace();
  run.result->cause = cause;
  run.result->duration_s = 10;
  run.result->cpu_user_us = 9'000'000;
  run.result->max_rss_bytes = 200u << 20;
  run.result->detail = "the detail";
  return run;
}

#define CHECK_SAYS(text, part)   \
  do {                           \
    INFO(text);                  \
    CHECK(contains(text, part)); \
  } while (false)

}  // namespace

TEST_CASE("every cause has a limit, an observation and a change") {
  for (const Cause cause : kernel::all_causes) {
    INFO(kernel::name_of(cause));
    RunRecord run = ended(cause);
    run.result->exit_code = 1;
    run.result->signal = SIGSEGV;
    const Explanation text = explain(run);
    CHECK(text.needed);
    for (const std::string& part : {text.limit, text.observed, text.change}) {
      CHECK(part.size() > 10);
      CHECK(part.ends_with('.'));
      CHECK(!contains(part, "not known any more"));
      CHECK(!contains(part, ".."));
    }
  }
}

TEST_CASE("success, and a run that is not over, need no explanation") {
  RunRecord run = ended(Cause::exited);
  CHECK_FALSE(explain(run).needed);
  run.result.reset();
  run.phase = RunPhase::queued;
  CHECK_FALSE(explain(run).needed);
  CHECK_SAYS(explain(run).limit, "queued");
}

TEST_CASE("a memory limit is explained with the ceiling, the peak and the key to raise") {
  const Explanation text = explain(ended(Cause::memory_limit));
  CHECK_SAYS(text.limit, "cgroup.memory_max, 256MiB");
  CHECK_SAYS(text.observed, "200 MiB");
  CHECK_SAYS(text.change, "Raise memory_max in profile STRICT");
}

TEST_CASE("a passed deadline is explained by whether the run was computing or waiting") {
  RunRecord run = ended(Cause::wall_clock);
  CHECK_SAYS(explain(run).limit, "wall_seconds, 300s");
  CHECK_SAYS(explain(run).limit, "grace_seconds, 1s");
  CHECK_SAYS(explain(run).observed, "used 9.0 s of CPU time. So it was computing");
  CHECK_SAYS(explain(run).change, "Raise wall_seconds");
  run.result->cpu_user_us = 20'000;
  CHECK_SAYS(explain(run).observed, "So it was waiting");
  CHECK_SAYS(explain(run).change, "Find what it waits for");
}

TEST_CASE("each limit names its key and its value") {
  CHECK_SAYS(explain(ended(Cause::cpu_limit)).limit, "cpu_seconds, 120,");
  CHECK_SAYS(explain(ended(Cause::cpu_limit)).change, "--cpu");
  CHECK_SAYS(explain(ended(Cause::pids_limit)).limit, "cgroup.pids_max, 64,");
  CHECK_SAYS(explain(ended(Cause::pids_limit)).change, "pids_max in profile STRICT");
  CHECK_SAYS(explain(ended(Cause::file_size_limit)).limit, "fsize_bytes, 64MiB,");
  CHECK_SAYS(explain(ended(Cause::output_limit)).limit, "output_stop_bytes, 1MiB,");
  CHECK_SAYS(explain(ended(Cause::host_overloaded)).limit, "the host is at fault");
}

TEST_CASE("a denied system call is explained by how to find it") {
  const Explanation text = explain(ended(Cause::syscall_denied));
  CHECK_SAYS(text.limit, "seccomp = \"strict\"");
  CHECK_SAYS(text.change, "strace");
  CHECK_SAYS(text.change, "audit");
}

TEST_CASE("a confinement that could not be made is explained by the control and the doctor") {
  const Explanation text = explain(ended(Cause::cannot_isolate));
  CHECK_SAYS(text.observed, "the detail");
  CHECK_SAYS(text.change, "paddock doctor --profile STRICT");
}

TEST_CASE("a program that could not be started is explained by its error") {
  RunRecord run = ended(Cause::cannot_execute);
  run.result->exec_error = ENOENT;
  CHECK_SAYS(explain(run).observed, "'./tool'");
  CHECK_SAYS(explain(run).change, "--bind-ro");
  run.result->exec_error = EACCES;
  CHECK_SAYS(explain(run).change, "executable");
  run.result->exec_error = ENOEXEC;
  CHECK_SAYS(explain(run).change, "#!/bin/sh");
}

TEST_CASE("a SIGKILL from nobody points at the host, another signal at the program") {
  RunRecord run = ended(Cause::signaled);
  run.result->signal = SIGKILL;
  CHECK_SAYS(explain(run).change, "out-of-memory");
  run.result->signal = SIGSEGV;
  CHECK_SAYS(explain(run).limit, "SIGSEGV");
  CHECK_SAYS(explain(run).change, "memory_bytes (512MiB");
}

TEST_CASE("what the run had to do without is said, too") {
  RunRecord run = ended(Cause::signaled);
  run.degraded = {"NO-MEMORY-CEILING(cgroup)"};
  CHECK_SAYS(explain(run).observed, " It ran degraded: NO-MEMORY-CEILING(cgroup).");
}

TEST_CASE("a policy that has been pruned is said to be unknown, and nothing is made up") {
  RunRecord run = ended(Cause::cpu_limit);
  run.policy_text.clear();
  CHECK_SAYS(explain(run).limit, "not known any more");
}

TEST_CASE("a policy's value is found by its whole key") {
  CHECK(policy_value("cgroup.memory_max = 1\nmemory_max = 2\n", "memory_max") == "2");
  CHECK(policy_value("a = 1", "a") == "1");
  CHECK(policy_value("ab = 1\n", "a").empty());
  CHECK(policy_value("", "a").empty());
}

TEST_CASE("a run that the daemon ended on its own account is explained by its reason") {
  RunRecord run = ended(Cause::killed_by_request);
  run.agent = "reviewer";
  run.result->detail = "agent stop";
  CHECK_SAYS(explain(run).limit, "the daemon ended it: agent stop");
  CHECK_SAYS(explain(run).change, "paddock agent start reviewer");
  run.result->detail = "no 'ready' within 5 s of 'init'";
  CHECK_SAYS(explain(run).limit, "no 'ready' within 5 s of 'init'");
  CHECK_SAYS(explain(run).change, "{\"type\":\"ready\"}");
  run.result->detail = "agent stop; its budget of cpu_s was spent and it was stopped while frozen";
  CHECK_SAYS(explain(run).change, "paddock budget grant reviewer");
  for (const char* detail : {"", still_queued_detail}) {
    run.result->detail = detail;
    CHECK_SAYS(explain(run).limit, "a client asked for its end");
  }
}
