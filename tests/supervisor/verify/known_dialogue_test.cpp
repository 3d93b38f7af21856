#include "supervisor/verify/known_dialogue.hpp"

#include "support/catch.hpp"

using namespace paddock::supervisor;
using std::chrono::milliseconds;

namespace {

using State = KnownDialogue::State;

const std::string greeting = std::string("\0\0\0\x09", 4) + R"(["ready"])";

std::string frame(const std::string& text) {
  return std::string("\0\0\0", 3) + static_cast<char>(text.size()) + text;
}

class Asked {
 public:
  KnownDialogue dialogue{std::make_shared<const KnownAnswers>(KnownAnswers{
                             .cases = 2,
                             .questions = {{.text = ",1]", .answer = ",2]", .of = 0},
                                           {.text = ",3]", .answer = ",4]", .of = std::nullopt},
                                           {.text = ",5]", .answer = ",6]", .of = 1}}}),
                         [this] { return token += 7; }};

  void come(const std::string& bytes) { dialogue.came(bytes, now); }
  void ask() {
    REQUIRE(dialogue.question());
    dialogue.asked(now);
  }
  void answer_first() {
    come(greeting);
    ask();
    come(frame("[7,2]"));
  }

  std::uint64_t token = 0;
  KnownDialogue::Time now{};
};

}  // namespace

TEST_CASE_METHOD(Asked, "a candidate that gives each known answer passes, each with a token") {
  CHECK(dialogue.state() == State::greeting);
  CHECK_FALSE(dialogue.question());
  CHECK(dialogue.wanted() == greeting.size());
  come(greeting);
  CHECK(dialogue.question() == frame("[7,1]"));
  CHECK(dialogue.wanted() == 0);
  ask();
  CHECK_FALSE(dialogue.question());
  now += milliseconds(3);
  come(frame("[7,2]"));
  CHECK(dialogue.question() == frame("[14,3]"));
  ask();
  come(frame("[14,4]"));
  CHECK(dialogue.question() == frame("[21,5]"));
  ask();
  now += milliseconds(2);
  CHECK_FALSE(dialogue.is_over());
  come(frame("[21,6]"));
  CHECK(dialogue.state() == State::passed);
  CHECK(dialogue.wanted() == 0);
  CHECK_FALSE(dialogue.question());
  const auto cases = dialogue.cases();
  REQUIRE(cases.size() == 2);
  for (const CaseAnswer& each : cases) {
    CHECK(each.passed);
    CHECK(each.cause == "passed");
  }
  CHECK(cases[0].wall_ms == 3.0);
  CHECK(cases[1].wall_ms == 2.0);
}

TEST_CASE_METHOD(Asked, "an answer may come a byte at a time") {
  for (const char byte : greeting) come({byte});
  ask();
  const std::string answer = frame("[7,2]");
  for (std::size_t i = 0; i < answer.size(); ++i) {
    CHECK(dialogue.wanted() == answer.size() - i);
    come({answer[i]});
  }
  CHECK(dialogue.so_far().answered == 1);
  CHECK(dialogue.state() == State::answering);
}

TEST_CASE_METHOD(Asked, "another greeting is left to the judge, with all that came of it") {
  come(std::string("\0\0\0\x09", 4) + "[\"READY");
  CHECK(dialogue.state() == State::other);
  const DialogueSoFar so_far = dialogue.so_far();
  CHECK_FALSE(so_far.is_greeted);
  CHECK(so_far.answered == 0);
  CHECK_FALSE(so_far.token);
  CHECK(so_far.came == std::string("\0\0\0\x09", 4) + "[\"READY");
}

TEST_CASE_METHOD(Asked, "another answer is left to the judge, with the token of its question") {
  answer_first();
  ask();
  const std::string other = frame("[14,5]");
  come(other.substr(0, 2));
  CHECK_FALSE(dialogue.is_over());
  come(other.substr(2));
  CHECK(dialogue.state() == State::other);
  CHECK(dialogue.so_far() == DialogueSoFar{.known = dialogue.so_far().known,
                                           .is_greeted = true,
                                           .answered = 1,
                                           .token = 14,
                                           .came = other});
}

TEST_CASE_METHOD(Asked, "an answer with the token of the question before is another one") {
  answer_first();
  ask();
  come(frame("[7,4]").substr(0, 7));
  CHECK(dialogue.state() == State::other);
}

TEST_CASE_METHOD(Asked, "a question that could not be sent is left to the judge unasked") {
  answer_first();
  REQUIRE(dialogue.question());
  dialogue.give_up();
  CHECK(dialogue.state() == State::other);
  CHECK_FALSE(dialogue.question());
  CHECK(dialogue.so_far().answered == 1);
  CHECK_FALSE(dialogue.so_far().token);
  CHECK(dialogue.so_far().came.empty());
}
