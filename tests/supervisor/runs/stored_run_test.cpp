#include "supervisor/runs/stored_run.hpp"

#include <csignal>

#include "kernel/policy/policy.hpp"
#include "supervisor/runs/explain.hpp"
#include "supervisor/runs/run_transition.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;

namespace {

RunRecord sample(kernel::Cause cause, const ResolvedRun& request) {
  RunRecord run;
  run.id = "r-0000000000000001";
  run.phase = RunPhase::finished;
  run.profile = "STRICT";
  run.argv = request.argv;
  run.policy_text = kernel::canonical_text(request.policy);
  run.degraded = {"NO-MEMORY-CEILING(cgroup)", "NO-PIDS-CEILING(cgroup)"};
  run.result.emplace();
  run.result->cause = cause;
  run.result->detail = "the detail";
  run.result->exit_code = 3;
  run.result->signal = SIGSEGV;
  run.result->exec_error = 13;
  run.result->duration_s = 10;
  run.result->cpu_user_us = 9'000'000;
  run.result->max_rss_bytes = 200u << 20;
  run.result->stdout_bytes = 5000;
  run.result->stderr_bytes = 7;
  return run;
}

StoredRun stored_as(const RunRecord& run, const ResolvedRun& request) {
  const auto at = std::chrono::system_clock::now();
  StoredRun stored;
  const Transition first = admitted_transition(run, request, FirstState::starting, at);
  const Transition last = finished_transition(run, *run.result, OutputDigests(), at);
  stored.row = *last.run;
  stored.events = {{.seq = 1, .event = first.event, .hash = {}},
                   {.seq = 2, .event = last.event, .hash = {}}};
  stored.policy_text = run.policy_text;
  return stored;
}

}  // namespace

TEST_CASE("a run out of the ledger is explained as it was when it was remembered") {
  ResolvedRun request;
  request.argv = {"./tool", "x"};
  request.policy.wall_clock = std::chrono::seconds(10);
  for (const kernel::Cause cause : kernel::all_causes) {
    INFO(kernel::name_of(cause));
    const RunRecord run = sample(cause, request);
    CHECK(explain(record_of(stored_as(run, request)).value()) == explain(run));
  }
}

TEST_CASE("a run whose events are pruned or strange does no harm") {
  ResolvedRun request;
  request.argv = {"./tool"};
  StoredRun stored = stored_as(sample(kernel::Cause::cpu_limit, request), request);
  StoredRun pruned = stored;
  pruned.events.clear();
  CHECK(record_of(pruned).value().result->cause == kernel::Cause::cpu_limit);
  stored.events[1].event.body = "{broken";
  CHECK(record_of(stored).error().code == kernel::ErrorCode::not_recorded);
  stored.events[1].event.body = R"({"result": {"signal": "many"}})";
  CHECK(record_of(stored).error().code == kernel::ErrorCode::not_recorded);
}
