#pragma once
// JudgeReport: what the judge says at its end, as one line of JSON on its stdout.
//
//   {"verdict": "judged", "cases": [{"passed": true, "cause": "passed", "detail": "", "wall_ms":
//   0.4}, ...], "waited_ms": 12.5}
//   {"verdict": "unusable", "detail": "tests.source do not parse: line 3: ..."}
//   {"verdict": "unsteady", "detail": "..."}: unusable, since they ask something else than they did
//
// Its job, on stdin: {"tests": {...the item's tests...}, "stop": "all" or "first_fail"}.
//
// The cases of a `call` are those of the request, in its order; of an `assert` its assertions, in
// the order of the source, or one alone with `no_assertion_ran`. wall_ms is null of what was not
// asked. What comes after the candidate is gone is `not_reached`. waited_ms: for the candidate,
// from the wait for its greeting on.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/error.hpp"
#include "supervisor/verify/item_answer.hpp"

namespace paddock::supervisor {

constexpr std::size_t judged_cases_max = 10'000;          // of one item
constexpr std::size_t judge_report_bytes_max = 4U << 20;  // the judge cuts its details to fit

// Of the case that was being asked when the channel ended, and of the assertions that this keeps
// from counting. The judge cannot know why: the caller puts the cause of the candidate's run here.
constexpr std::string_view ended_cause = "ended";

struct JudgeReport {
  bool usable = false;
  bool unsteady = false;  // and so they have no known answers
  std::string detail;     // why not usable
  std::vector<CaseAnswer> cases;
  double waited_s = 0;

  bool operator==(const JudgeReport&) const = default;
};

// Fails with internal if it is not exactly one report.
kernel::Result<JudgeReport> parse_judge_report(std::string_view text);

}  // namespace paddock::supervisor
