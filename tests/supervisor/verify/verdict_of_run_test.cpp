#include "supervisor/verify/verdict_of_run.hpp"

#include "supervisor/runs/host_fault.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using kernel::Cause;

namespace {

using Report = std::optional<kernel::Result<JudgeReport>>;

EndedRun ended(Cause cause, int exit_code = 0, bool stopped_here = false) {
  EndedRun run;
  run.cause = cause;
  run.exit_code = exit_code;
  run.stopped_here = stopped_here;
  return run;
}

CaseAnswer passed() {
  CaseAnswer each;
  each.passed = true;
  each.cause = "passed";
  return each;
}

CaseAnswer failed(const std::string& cause) {
  CaseAnswer each;
  each.cause = cause;
  return each;
}

Report report(std::vector<CaseAnswer> cases) {
  return JudgeReport{.usable = true, .detail = "", .cases = std::move(cases)};
}

const EndedRun judge_ended = ended(Cause::exited);
const Report bad_report = kernel::fail(kernel::ErrorCode::internal, "no report");

const std::vector<Cause> faults = {
    Cause::host_overloaded, Cause::killed_by_request, Cause::shutdown, Cause::daemon_restart,
    Cause::cannot_execute,  Cause::cannot_isolate,    Cause::internal};

}  // namespace

TEST_CASE("each cause is either somebody's fault or the candidate's doing") {
  for (const Cause cause : kernel::all_causes) {
    INFO(name_of(cause));
    CHECK(is_host_fault(cause) == (std::find(faults.begin(), faults.end(), cause) != faults.end()));
  }
}

TEST_CASE("what the judge says of a candidate that lived is what counts") {
  const auto judgement =
      judgement_of(ended(Cause::exited), judge_ended, report({passed(), failed("wrong_answer")}));
  CHECK_FALSE(judgement.fault);
  CHECK(judgement.cases == std::vector{passed(), failed("wrong_answer")});
  // One that was only ended because the judge was through.
  const auto stopped =
      judgement_of(ended(Cause::killed_by_request, 0, true), judge_ended, report({passed()}));
  CHECK_FALSE(stopped.fault);
  CHECK(stopped.cases == std::vector{passed()});
}

TEST_CASE("a candidate that was gone before its cases were through has the cause of its run") {
  for (const Cause cause : kernel::all_causes) {
    INFO(name_of(cause));
    const auto judgement =
        judgement_of(ended(cause), judge_ended, report({passed(), failed("ended")}));
    if (is_host_fault(cause)) {
      REQUIRE(judgement.fault);
      CHECK(judgement.fault->cause == name_of(cause));
      continue;
    }
    REQUIRE_FALSE(judgement.fault);
    REQUIRE(judgement.cases.size() == 2);
    CHECK(judgement.cases[1].cause == name_of(cause));
    CHECK_FALSE(judgement.cases[1].passed);
    CHECK(judgement.cases[0].passed == (cause != Cause::tampered));
  }
  CHECK(judgement_of(ended(Cause::exited, 0), judge_ended, report({failed("ended")}))
            .cases[0]
            .detail == "exited with 0");
}

TEST_CASE("a candidate at its wall clock has a number only if half of the time was its own") {
  EndedRun candidate = ended(Cause::wall_clock);
  candidate.duration_s = 2;
  const auto judged_after = [&](double waited_s, double asked_s) {
    Report told = report({passed(), failed("ended")});
    (*told)->waited_s = waited_s;
    return judgement_of(candidate, judge_ended, told, std::chrono::duration<double>(asked_s));
  };
  for (const auto& [waited_s, asked_s] :
       {std::pair(1.0, 0.0), {0.0, 1.0}, {0.5, 0.5}, {2.0, 0.0}}) {
    const auto judgement = judged_after(waited_s, asked_s);
    REQUIRE_FALSE(judgement.fault);
    CHECK(judgement.cases[1].cause == "wall_clock");
  }
  const auto late = judged_after(0.1, 0.2);
  REQUIRE(late.fault);
  CHECK(late.fault->cause == "host_overloaded");
  CHECK(late.fault->detail.find("had it wait for 1.700 s of 2.000") != std::string::npos);
  // It is only about an end that its wall clock was.
  candidate.cause = Cause::exited;
  CHECK_FALSE(judged_after(0, 0).fault);
}

TEST_CASE("a candidate that closes its channel and lives on has failed") {
  const auto judgement = judgement_of(ended(Cause::killed_by_request, 0, true), judge_ended,
                                      report({passed(), failed("ended"), failed("not_reached")}));
  REQUIRE_FALSE(judgement.fault);
  REQUIRE(judgement.cases.size() == 3);
  CHECK(judgement.cases[0].passed);
  CHECK(judgement.cases[1].cause == "protocol");
  CHECK(judgement.cases[1].detail == "it closed the channel and went on");
  CHECK(judgement.cases[2].cause == "not_reached");
}

TEST_CASE("a fault of the host after all cases were through changes nothing") {
  CHECK_FALSE(judgement_of(ended(Cause::host_overloaded), judge_ended, report({passed()})).fault);
}

TEST_CASE("a candidate that tampered is not believed, whatever its values were") {
  const auto judgement =
      judgement_of(ended(Cause::tampered), judge_ended, report({passed(), passed()}));
  REQUIRE(judgement.cases.size() == 2);
  for (const CaseAnswer& each : judgement.cases) CHECK_FALSE(each.passed);
  const auto known = judgement_by_known_answers(ended(Cause::tampered), {passed(), passed()});
  REQUIRE(known.cases.size() == 2);
  for (const CaseAnswer& each : known.cases) {
    CHECK_FALSE(each.passed);
    CHECK(each.cause == "tampered");
  }
}

TEST_CASE("who has given each known answer has passed, however it ended after that") {
  for (const EndedRun& candidate :
       {ended(Cause::exited), ended(Cause::exited, 1), ended(Cause::signaled),
        ended(Cause::wall_clock), ended(Cause::killed_by_request, 0, true)}) {
    const auto judgement = judgement_by_known_answers(candidate, {passed(), passed()});
    CHECK_FALSE(judgement.fault);
    CHECK(judgement.cases == std::vector<CaseAnswer>{passed(), passed()});
  }
}

TEST_CASE("a judge that ends without a report gives no number") {
  for (const EndedRun& judge :
       {ended(Cause::exited, 1), ended(Cause::signaled), ended(Cause::wall_clock),
        ended(Cause::memory_limit), ended(Cause::killed_by_request, 0, true)}) {
    const auto judgement = judgement_of(ended(Cause::exited), judge, report({passed()}));
    REQUIRE(judgement.fault);
    CHECK(judgement.fault->cause == "judge_failed");
  }
  for (const Report& missing : {Report(), bad_report}) {
    const auto judgement = judgement_of(ended(Cause::exited), judge_ended, missing);
    REQUIRE(judgement.fault);
    CHECK(judgement.fault->cause == "judge_failed");
  }
  CHECK(judgement_of(ended(Cause::exited), std::nullopt, {}).fault->cause == "judge_failed");
}

TEST_CASE("of a judge that was ended by somebody else it is said who") {
  for (const Cause cause : faults)
    CHECK(judgement_of(ended(Cause::exited), ended(cause), {}).fault->cause == name_of(cause));
  // The candidate's own fault came first.
  CHECK(judgement_of(ended(Cause::cannot_isolate), ended(Cause::killed_by_request, 0, true), {})
            .fault->cause == "cannot_isolate");
}

TEST_CASE("tests that cannot be used are nobody's failure") {
  const Report unusable = JudgeReport{.usable = false, .detail = "line 3: ...", .cases = {}};
  const auto judgement = judgement_of(ended(Cause::exited), judge_ended, unusable);
  REQUIRE(judgement.fault);
  CHECK(*judgement.fault == Fault{"tests_unusable", "line 3: ..."});
  CHECK(judgement_in_process(judge_ended, unusable, 3).fault->cause == "tests_unusable");
}

TEST_CASE("in one process an end without a report fails every case") {
  for (const Cause cause : kernel::all_causes) {
    INFO(name_of(cause));
    const auto judgement = judgement_in_process(ended(cause, 3), bad_report, 2);
    CHECK(judgement.fault.has_value() == is_host_fault(cause));
    if (judgement.fault) continue;
    REQUIRE(judgement.cases.size() == 2);
    CHECK(judgement.cases[1].cause == name_of(cause));
  }
  CHECK(judgement_in_process(judge_ended, {}, 0).cases.size() == 1);
  CHECK(judgement_in_process(judge_ended, report({failed("ended")}), 1).cases[0].cause ==
        "protocol");
  CHECK(judgement_in_process(judge_ended, report({passed()}), 1).cases == std::vector{passed()});
  CHECK_FALSE(
      judgement_in_process(ended(Cause::wall_clock), report({passed()}), 1).cases[0].passed);
}

TEST_CASE("a case of standard output passes with the right output and an exit status of 0") {
  const StdioCase expected{.stdin_bytes = "", .stdout_bytes = "1\n", .checker = {}};
  kernel::SandboxResult result;
  result.cause = Cause::exited;
  result.stdout = "1";
  result.duration_s = 0.5;
  result.cpu_user_us = 2000;
  const auto verdict = stdio_verdict(result, expected);
  CHECK_FALSE(verdict.fault);
  CHECK(verdict.answer.passed);
  CHECK(verdict.answer.wall_ms == 500.0);
  CHECK(verdict.answer.cpu_ms == 2.0);

  result.stdout = "2";
  CHECK(stdio_verdict(result, expected).answer.cause == "wrong_answer");
  result.stdout = "1";
  result.exit_code = 1;
  CHECK_FALSE(stdio_verdict(result, expected).answer.passed);
  CHECK(stdio_verdict(result, expected).answer.cause == "exited");
  result.exit_code = 0;
  result.stdout_truncated = true;
  CHECK(stdio_verdict(result, expected).answer.cause == "output_limit");
  CHECK_FALSE(stdio_verdict(result, expected).answer.passed);
  result.stdout_truncated = false;
  result.output_held_open = true;
  CHECK_FALSE(stdio_verdict(result, expected).answer.passed);
  result.output_held_open = false;
  for (const Cause cause : kernel::all_causes) {
    if (cause == Cause::exited) continue;
    INFO(name_of(cause));
    result.cause = cause;
    const auto other = stdio_verdict(result, expected);
    CHECK(other.fault.has_value() == is_host_fault(cause));
    CHECK_FALSE(other.answer.passed);
  }
}

TEST_CASE("a compiler that refuses the code fails every case, and one that cannot run none") {
  const auto refused = judgement_of_compiler(ended(Cause::exited, 1), 3);
  REQUIRE(refused.cases.size() == 3);
  CHECK(refused.cases[2].cause == "does_not_compile");
  CHECK(judgement_of_compiler(ended(Cause::cannot_isolate), 3).fault->cause == "cannot_isolate");
}

TEST_CASE("a compiler that needs more than it may have fails every case with what it ran into") {
  for (const Cause cause :
       {Cause::wall_clock, Cause::cpu_limit, Cause::memory_limit, Cause::pids_limit,
        Cause::file_size_limit, Cause::output_limit, Cause::syscall_denied, Cause::tampered}) {
    const auto judgement = judgement_of_compiler(ended(cause), 2);
    INFO(name_of(cause));
    CHECK_FALSE(judgement.fault);
    REQUIRE(judgement.cases.size() == 2);
    CHECK(judgement.cases[1].cause == name_of(cause));
  }
}

TEST_CASE("only a trial without the code says that the host lacks what a step takes") {
  CHECK(wants_trial(ended(Cause::exited, 127), true));
  CHECK_FALSE(wants_trial(ended(Cause::exited, 127), false));  // it is among the files
  for (const bool is_of_host : {true, false}) {
    CHECK(wants_trial(ended(Cause::exited, 126), is_of_host));
    CHECK_FALSE(wants_trial(ended(Cause::exited, 1), is_of_host));
    CHECK_FALSE(wants_trial(ended(Cause::wall_clock), is_of_host));
  }
  kernel::SandboxResult trial;
  trial.cause = Cause::exited;
  CHECK_FALSE(fault_of_trial("the compiler's run", trial));
  trial.exit_code = 126;
  trial.stderr = "paddock-step: write 'main.c': No space left on device\n";
  CHECK(
      *fault_of_trial("the compiler's run", trial) ==
      Fault{.cause = "internal",
            .detail = "the compiler's run: paddock-step: write 'main.c': No space left on device"});
  trial.exit_code = 127;
  trial.stderr = "paddock-step: execute 'gpp': No such file or directory\n";
  CHECK(*fault_of_trial("the compiler's run", trial) ==
        Fault{.cause = "cannot_execute",
              .detail = "the compiler's run: paddock-step: execute 'gpp': No such file or "
                        "directory"});
  trial.cause = Cause::cannot_isolate;
  CHECK(fault_of_trial("the compiler's run", trial)->cause == "cannot_isolate");
}
