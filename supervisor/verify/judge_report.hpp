#pragma once
// JudgeReport: what the judge says at its end, as JSON on its stdout.
//
//   {"verdict": "judged", "cases": [{"passed": true, "cause": "passed", "detail": "", "wall_ms":
//   0.4}, ...]}
//   {"verdict": "unusable", "detail": "the tests do not parse: line 3: ..."}
//
// Its job, on stdin: {"tests": {...the item's tests...}, "stop": "all" or "first_fail"}.

#include <string>
#include <string_view>
#include <vector>

#include "kernel/base/error.hpp"
#include "supervisor/verify/item_answer.hpp"

namespace paddock::supervisor {

struct JudgeReport {
  bool usable = false;
  std::string detail;  // why not usable
  std::vector<CaseAnswer> cases;

  bool operator==(const JudgeReport&) const = default;
};

// Fails with internal if it is not exactly one report.
kernel::Result<JudgeReport> parse_judge_report(std::string_view text);

}  // namespace paddock::supervisor
