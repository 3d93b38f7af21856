#include "kernel/probe/answer.hpp"

#include <cerrno>
#include <csignal>

#include "support/catch.hpp"

using namespace paddock::kernel;
using Kind = Answer::Kind;

TEST_CASE("each line answers for the attempt of its number") {
  const auto answers = parse_answers(
      "1 refused 13\n0 done\n3 killed 31\n2 cannot no process can be started for it\n", 5);
  REQUIRE(answers.size() == 5);
  CHECK(answers[0] == Answer{.kind = Kind::done});
  CHECK(answers[1] == Answer{.kind = Kind::refused, .number = EACCES});
  CHECK(answers[2] ==
        Answer{.kind = Kind::cannot, .number = 0, .why = "no process can be started for it"});
  CHECK(answers[3] == Answer{.kind = Kind::killed, .number = SIGSYS});
  CHECK(answers[4].kind == Kind::silent);
}

TEST_CASE("of two answers the first counts, and what is no answer is none") {
  CHECK(parse_answers("0 done\n0 refused 1\n", 1).front().kind == Kind::done);
  for (const char* text : {"", "0", "0 ", "0 finished", "0 refused", "0 refused many", "done",
                           "1 done", "-1 done", "99999999999999999999 done", "x done"}) {
    INFO(text);
    CHECK(parse_answers(text, 1).front().kind == Kind::silent);
  }
}

TEST_CASE("an answer meets what is expected in kind and number") {
  const Expected any{Kind::refused, {}};
  const Expected named{Kind::refused, {EPERM, ENOSYS}};
  const Expected fatal{Kind::killed, {SIGSYS}};
  CHECK(meets({.kind = Kind::refused, .number = EACCES}, any));
  CHECK(meets({.kind = Kind::refused, .number = ENOSYS}, named));
  CHECK_FALSE(meets({.kind = Kind::refused, .number = EACCES}, named));
  CHECK_FALSE(meets({.kind = Kind::done}, any));
  CHECK_FALSE(meets({.kind = Kind::killed, .number = SIGKILL}, fatal));
  CHECK_FALSE(meets({.kind = Kind::refused, .number = SIGSYS}, fatal));
}

TEST_CASE("people read names, not numbers") {
  CHECK(to_string({.kind = Kind::refused, .number = EPERM}) == "refused EPERM");
  CHECK(to_string({.kind = Kind::killed, .number = SIGSYS}) == "killed by SIGSYS");
  CHECK(to_string({.kind = Kind::refused, .number = 4000}) == "refused 4000");
  CHECK(to_string({.kind = Kind::done}) == "done");
  CHECK(to_string({}) == "no answer");
}
