#include "supervisor/verify/known_answers.hpp"

#include "support/catch.hpp"

using namespace paddock::supervisor;

TEST_CASE("known answers are read as the judge prints them") {
  const auto known = parse_known_answers(
      R"({"cases":2,"questions":[[",\"f\",[1],[]]",",\"value\",2,[]]",0],[",\"f\",[2],[]]",",\"value\",3,[]]",null]]})"
      "\n");
  REQUIRE(known);
  REQUIRE(*known);
  CHECK((*known)->cases == 2);
  REQUIRE((*known)->questions.size() == 2);
  CHECK((*known)->questions[0].text == R"(,"f",[1],[]])");
  CHECK((*known)->questions[0].answer == R"(,"value",2,[]])");
  CHECK((*known)->questions[0].of == 0);
  CHECK_FALSE((*known)->questions[1].of);
  CHECK(bytes_of(**known) > 100);
}

TEST_CASE("a judge that finds none says null") {
  const auto known = parse_known_answers("null\n");
  REQUIRE(known);
  CHECK(*known == nullptr);
}

TEST_CASE("what are no known answers is refused") {
  const std::string too_long(known_question_bytes_max + 1, 'x');
  for (const std::string& text : {
           std::string(),
           std::string("[]"),
           std::string(R"({"cases":1})"),
           std::string(R"({"cases":1,"questions":[]})"),
           std::string(R"({"cases":0,"questions":[["q","a",null]]})"),
           std::string(R"({"cases":1,"questions":[["q","a",1]]})"),
           std::string(R"({"cases":1,"questions":[["q","a",-1]]})"),
           std::string(R"({"cases":1,"questions":[["q",1,0]]})"),
           std::string(R"({"cases":1,"questions":[["q","a"]]})"),
           std::string(R"({"cases":1,"questions":[["q","a",0]],"more":1})"),
           R"({"cases":1,"questions":[[")" + too_long + R"(","a",0]]})",
           std::string(known_answers_bytes_max + 1, ' '),
       }) {
    INFO(text.substr(0, 80));
    CHECK_FALSE(parse_known_answers(text));
  }
}
