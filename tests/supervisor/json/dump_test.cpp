#include "supervisor/json/dump.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

using namespace paddock::supervisor;
using nlohmann::ordered_json;

TEST_CASE("JSON is written in the order in which it was made, on one line or on several") {
  const ordered_json value = {{"b", 1}, {"a", {"x", "ü"}}};
  CHECK(dump(value) == R"({"b":1,"a":["x","ü"]})");
  CHECK(dump_line(value) == "{\"b\":1,\"a\":[\"x\",\"ü\"]}\n");
  CHECK(dump_indented(value) == "{\n  \"b\": 1,\n  \"a\": [\n    \"x\",\n    \"ü\"\n  ]\n}\n");
}

TEST_CASE("bytes that are no UTF-8 are replaced wherever JSON is written") {
  const ordered_json value = {"a\xff\xc3"};
  CHECK(dump(value) == "[\"a\xef\xbf\xbd\xef\xbf\xbd\"]");
  CHECK(dump_line(value) == "[\"a\xef\xbf\xbd\xef\xbf\xbd\"]\n");
  CHECK(dump_indented(value) == "[\n  \"a\xef\xbf\xbd\xef\xbf\xbd\"\n]\n");
}
