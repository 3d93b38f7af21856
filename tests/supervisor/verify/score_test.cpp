#include "supervisor/verify/score.hpp"

#include "support/catch.hpp"

using namespace paddock::supervisor;

namespace {

// "pfp": passed, failed, passed. The failed ones have the causes "first", "second" ...
std::vector<CaseAnswer> cases(std::string_view marks) {
  std::vector<CaseAnswer> made;
  int failed = 0;
  for (const char mark : marks) {
    CaseAnswer each;
    each.passed = mark == 'p';
    each.cause = each.passed ? "passed" : "cause " + std::to_string(++failed);
    made.push_back(each);
  }
  return made;
}

}  // namespace

TEST_CASE("an item passes if and only if all of its cases do") {
  for (const Scoring scoring : {Scoring::fraction, Scoring::all}) {
    const Score score = score_of(cases("ppp"), scoring, Stop::all);
    CHECK(score == Score{Verdict::pass, 1.0, 3, 3, "passed", ""});
  }
  CHECK(score_of(cases("pfp"), Scoring::fraction, Stop::all) ==
        Score{Verdict::fail, 2.0 / 3, 2, 3, "cause 1", ""});
  CHECK(score_of(cases("pff"), Scoring::all, Stop::all) ==
        Score{Verdict::fail, 0, 1, 3, "cause 1", ""});
  CHECK(score_of(cases("ff"), Scoring::fraction, Stop::all).reward == 0);
}

TEST_CASE("with the first failure everything after it counts as failed") {
  CHECK(score_of(cases("pfpp"), Scoring::fraction, Stop::first_fail) ==
        Score{Verdict::fail, 0.25, 1, 4, "cause 1", ""});
  CHECK(score_of(cases("pp"), Scoring::fraction, Stop::first_fail).verdict == Verdict::pass);
}

TEST_CASE("no case at all is a failure and never a 1") {
  for (const Scoring scoring : {Scoring::fraction, Scoring::all})
    CHECK(score_of({}, scoring, Stop::all) ==
          Score{Verdict::fail, 0, 0, 0, "no_assertion_ran", ""});
}
