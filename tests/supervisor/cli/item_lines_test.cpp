#include "supervisor/cli/item_lines.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace paddock::supervisor::cli;
using nlohmann::json;

namespace {

std::string line_of(const std::string& id, const std::string& group = {}) {
  json item = {{"id", id}, {"code", "x = 1"}};
  if (!group.empty()) item["group"] = group;
  return item.dump() + "\n";
}

}  // namespace

TEST_CASE("each line that is not empty is an item, and keeps its number") {
  const auto lines = item_lines(line_of("a") + "\n  \r\n" + line_of("b", "g") + line_of("c"));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].id == "a");
  CHECK(lines[1].number == 4);
  CHECK(lines[1].group == "g");
  CHECK(lines[2].mistake.empty());
  CHECK(item_lines("").empty());
  CHECK(item_lines("{\"id\":\"z\"}").size() == 1);  // no newline at the end
}

TEST_CASE("a line that is no item is named with its mistake, and the others are sent") {
  const auto lines = item_lines("{\"id\": \n" + line_of("a") + "[1]\n{\"id\": 5}\n" + line_of("a"));
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].mistake.find("not JSON") != std::string::npos);
  CHECK(lines[2].mistake == "it is no JSON object");
  CHECK(lines[3].mistake == "'id' must be a text that is not empty");
  CHECK(lines[4].mistake == "an earlier line has the same 'id'");
  const auto requests = requests_of(lines);
  REQUIRE(requests.size() == 1);
  CHECK(requests.front() == std::vector<std::size_t>{1});
}

TEST_CASE("an id that an answer could not repeat is a mistake of its line alone") {
  const std::string lines = R"({"id": "a\u001bb"})"
                            "\n" +
                            line_of(std::string(257, 'x')) + line_of("a");
  const auto read = item_lines(lines);
  REQUIRE(read.size() == 3);
  CHECK(read[0].mistake == "'id' must be at most 256 printable characters");
  CHECK_FALSE(read[1].mistake.empty());
  CHECK(read[2].mistake.empty());
}

TEST_CASE("the items of one group are not torn apart by the end of a request") {
  std::string text;
  for (std::size_t i = 0; i < request_items_max - 2; ++i) text += line_of("s" + std::to_string(i));
  for (int i = 0; i < 8; ++i) text += line_of("g" + std::to_string(i), "group");
  text += line_of("last");
  const auto requests = requests_of(item_lines(text));
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].size() == request_items_max + 6);
  CHECK(requests[1].size() == 1);
}

TEST_CASE("the body of a request is JSON with the items as they were") {
  const auto lines = item_lines(line_of("a") + line_of("b"));
  VerifyOptions options;
  options.first_fail = true;
  const json body = json::parse(verify_body(lines, {0, 1}, options));
  CHECK(body.at("items").size() == 2);
  CHECK(body.at("items")[1].at("id") == "b");
  CHECK(body.at("stop") == "first_fail");
  CHECK(body.at("stream") == true);
  CHECK_FALSE(body.contains("profile"));
  options.profile = "SEALED";
  CHECK(json::parse(verify_body(lines, {0}, options)).at("profile") == "SEALED");
}

TEST_CASE("a request asks for cold runs and for judges only if that is wanted") {
  const auto lines = item_lines(line_of("a"));
  VerifyOptions options;
  for (const char* key : {"warm", "known_answers"})
    CHECK_FALSE(json::parse(verify_body(lines, {0}, options)).contains(key));
  options.cold = options.judged = true;
  for (const char* key : {"warm", "known_answers"})
    CHECK(json::parse(verify_body(lines, {0}, options))[key] == false);
}
