#include "supervisor/verify/score.hpp"

namespace paddock::supervisor {

Score score_of(std::span<const CaseAnswer> cases, Scoring scoring, Stop stop) {
  Score score;
  score.total = cases.size();
  const CaseAnswer* failed = nullptr;
  for (const CaseAnswer& each : cases) {
    if (each.passed && (failed == nullptr || stop == Stop::all)) ++score.passed;
    if (!each.passed && failed == nullptr) failed = &each;
  }
  if (failed != nullptr) {
    score.cause = failed->cause;
    score.detail = failed->detail;
  } else if (cases.empty()) {
    score.cause = "no_assertion_ran";
  } else {
    score.cause = "passed";
    score.verdict = Verdict::pass;
  }
  if (score.verdict == Verdict::pass) {
    score.reward = 1;
  } else if (scoring == Scoring::fraction && score.total > 0) {
    score.reward = static_cast<double>(score.passed) / static_cast<double>(score.total);
  }
  return score;
}

}  // namespace paddock::supervisor
