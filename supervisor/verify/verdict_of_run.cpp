#include "supervisor/verify/verdict_of_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "supervisor/runs/host_fault.hpp"
#include "supervisor/runtimes/step_wire.hpp"
#include "supervisor/verify/checkers.hpp"

namespace paddock::supervisor {
namespace {

using kernel::Cause;
using kernel::ErrorCode;
using kernel::Result;

constexpr double us_per_s = 1e6;
constexpr double us_per_ms = 1000;

Fault fault_of_run(const char* whose, const EndedRun& run) {
  const std::string text = ending_text(run);
  return {.cause = std::string(name_of(run.cause)), .detail = fmt::format("{}: {}", whose, text)};
}

Judgement without_number(Fault fault) {
  return {.fault = std::move(fault), .cases = {}};
}

std::string cause_of(kernel::ErrorCode code) {
  switch (code) {
    case ErrorCode::too_busy:
      return "too_busy";
    case ErrorCode::draining:
      return "shutdown";
    case ErrorCode::not_recorded:
      return "not_recorded";
    case ErrorCode::sandbox_not_available:
      return "cannot_isolate";
    case ErrorCode::invalid_request:
    case ErrorCode::sandbox_policy_error:
      return "invalid_request";
    case ErrorCode::unknown_profile:
    case ErrorCode::unknown_agent:
    case ErrorCode::not_found:
    case ErrorCode::forbidden:
    case ErrorCode::io:
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

bool is_ended_case(const CaseAnswer& each) {
  return !each.passed && each.cause == ended_cause;
}

std::vector<CaseAnswer> failed_cases(std::size_t count, const std::string& cause,
                                     const std::string& detail) {
  CaseAnswer failed;
  failed.cause = cause;
  failed.detail = detail;
  return std::vector<CaseAnswer>(std::max<std::size_t>(count, 1), failed);
}

// Nobody is believed who is seen to have lied.
bool is_forged(const EndedRun& run) {
  return run.cause == Cause::tampered;
}

Judgement failed_with_run(const EndedRun& run, std::size_t cases) {
  return {.fault = std::nullopt,
          .cases = failed_cases(cases, std::string(name_of(run.cause)), ending_text(run))};
}

bool was_kept_waiting(const EndedRun& candidate, double own_s) {
  return candidate.cause == Cause::wall_clock && own_s < candidate.duration_s / 2;
}

std::string unusable_text(const JudgeReport& report) {
  return report.detail.empty() ? "the tests cannot be used" : report.detail;
}

}  // namespace

EndedRun ended_run(const kernel::SandboxResult& result, bool stopped_here) {
  return {.cause = result.cause,
          .detail = result.detail,
          .exit_code = result.exit_code,
          .signal = result.signal,
          .stopped_here = stopped_here,
          .duration_s = result.duration_s};
}

Fault fault_of(const kernel::Error& error) {
  return {.cause = cause_of(error.code), .detail = error.message};
}

std::string ending_text(const EndedRun& run) {
  std::string text(name_of(run.cause));
  if (run.cause == Cause::exited) text = fmt::format("exited with {}", run.exit_code);
  if (run.cause == Cause::signaled) text = fmt::format("signal {}", run.signal);
  if (!run.detail.empty()) text += ": " + run.detail;
  return text;
}

Judgement judgement_of(const std::optional<EndedRun>& candidate,
                       const std::optional<EndedRun>& judge,
                       const std::optional<Result<JudgeReport>>& report,
                       std::chrono::duration<double> asked_before) {
  // Whoever was ended here was so because of the other one.
  const bool is_candidates_fault =
      candidate && !candidate->stopped_here && is_host_fault(candidate->cause);
  const bool has_report =
      judge && judge->cause == Cause::exited && judge->exit_code == 0 && report && *report;
  if (!has_report) {
    if (is_candidates_fault) return without_number(fault_of_run("the candidate's run", *candidate));
    if (judge && !judge->stopped_here && is_host_fault(judge->cause))
      return without_number(fault_of_run("the judge's run", *judge));
    std::string detail = "it never started";
    if (judge) detail = ending_text(*judge);
    if (judge && report && !*report) detail += "; " + report->error().message;
    return without_number({.cause = "judge_failed", .detail = std::move(detail)});
  }
  JudgeReport judged = **report;
  if (!judged.usable)
    return without_number({.cause = "tests_unusable", .detail = unusable_text(judged)});
  if (!candidate)
    return without_number({.cause = "internal", .detail = "the candidate's run has no end"});
  if (is_forged(*candidate)) return failed_with_run(*candidate, judged.cases.size());
  if (std::none_of(judged.cases.begin(), judged.cases.end(), is_ended_case))
    return {.fault = std::nullopt, .cases = std::move(judged.cases)};
  // It was gone before its cases were through.
  if (is_candidates_fault) return without_number(fault_of_run("the candidate's run", *candidate));
  const double own_s = asked_before.count() + judged.waited_s;
  if (was_kept_waiting(*candidate, own_s))
    return without_number(
        {.cause = std::string(name_of(Cause::host_overloaded)),
         .detail =
             fmt::format("the candidate's run: wall_seconds passed, and its judge had it wait "
                         "for {:.3f} s of {:.3f}",
                         candidate->duration_s - own_s, candidate->duration_s)});
  // Only its end or its own doing closes the channel, and it lived until it was stopped for want of
  // a judge. No number would be a way out for whoever has no right answer.
  const bool has_closed_channel = candidate->stopped_here && is_host_fault(candidate->cause);
  for (CaseAnswer& each : judged.cases) {
    if (!is_ended_case(each)) continue;
    each.cause = has_closed_channel ? "protocol" : name_of(candidate->cause);
    each.detail =
        has_closed_channel ? "it closed the channel and went on" : ending_text(*candidate);
  }
  return {.fault = std::nullopt, .cases = std::move(judged.cases)};
}

// How it ended after that is not looked at, as after a judge's last question.
Judgement judgement_by_known_answers(const EndedRun& candidate, std::vector<CaseAnswer> cases) {
  if (is_forged(candidate)) return failed_with_run(candidate, cases.size());
  return {.fault = std::nullopt, .cases = std::move(cases)};
}

Judgement judgement_in_process(const EndedRun& run,
                               const std::optional<Result<JudgeReport>>& report,
                               std::size_t cases) {
  if (is_host_fault(run.cause)) return without_number(fault_of_run("the run", run));
  if (run.cause != Cause::exited || !report || !*report) return failed_with_run(run, cases);
  JudgeReport judged = **report;
  if (!judged.usable)
    return without_number({.cause = "tests_unusable", .detail = unusable_text(judged)});
  // There was nobody else whose end it could have seen.
  for (CaseAnswer& each : judged.cases)
    if (is_ended_case(each)) each.cause = "protocol";
  return {.fault = std::nullopt, .cases = std::move(judged.cases)};
}

StdioVerdict stdio_verdict(const kernel::SandboxResult& result, const StdioCase& expected) {
  StdioVerdict verdict;
  const EndedRun run = ended_run(result, false);
  if (is_host_fault(run.cause)) {
    verdict.fault = fault_of_run("the candidate's run", run);
    return verdict;
  }
  CaseAnswer& answer = verdict.answer;
  answer.wall_ms = std::round(result.duration_s * us_per_s) / us_per_ms;
  answer.cpu_ms = static_cast<double>(result.cpu_user_us + result.cpu_system_us) / us_per_ms;
  if (run.cause != Cause::exited || run.exit_code != 0) {
    answer.cause = name_of(run.cause);
    answer.detail = ending_text(run);
  } else if (result.stdout_truncated || result.output_held_open) {
    // What there is of it might look right.
    answer.cause = name_of(Cause::output_limit);
    answer.detail = result.stdout_truncated ? "more output than output_bytes"
                                            : "a process it left kept its output open";
  } else {
    answer.passed = output_matches(expected.checker, expected.stdout_bytes, result.stdout);
    answer.cause = answer.passed ? "passed" : "wrong_answer";
  }
  return verdict;
}

bool wants_trial(const EndedRun& step, bool is_program_of_host) {
  if (step.cause != Cause::exited) return false;
  return step.exit_code == step_setup_failed ||
         (step.exit_code == step_not_executed && is_program_of_host);
}

std::optional<Fault> fault_of_trial(const char* whose, const kernel::SandboxResult& trial) {
  const EndedRun run = ended_run(trial, false);
  if (is_host_fault(run.cause)) return fault_of_run(whose, run);
  if (!wants_trial(run, true)) return std::nullopt;
  std::string why = trial.stderr;
  while (why.ends_with('\n')) why.pop_back();
  const Cause cause =
      run.exit_code == step_not_executed ? Cause::cannot_execute : Cause::internal;
  return Fault{.cause = std::string(name_of(cause)),
               .detail = fmt::format("{}: {}", whose, why)};
}

// What it made of the code is one thing; what it took to do so has the name of the limit.
Judgement judgement_of_compiler(const EndedRun& run, std::size_t cases) {
  if (is_host_fault(run.cause)) return without_number(fault_of_run("the compiler's run", run));
  if (run.cause != Cause::exited && run.cause != Cause::signaled)
    return {.fault = std::nullopt,
            .cases = failed_cases(cases, std::string(name_of(run.cause)),
                                  "the compiler: " + ending_text(run))};
  return {.fault = std::nullopt,
          .cases = failed_cases(cases, "does_not_compile", "the compiler: " + ending_text(run))};
}

}  // namespace paddock::supervisor
