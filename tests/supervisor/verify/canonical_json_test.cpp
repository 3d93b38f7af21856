#include "supervisor/verify/canonical_json.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

using nlohmann::json;
using paddock::supervisor::canonical_json;

// The right-hand sides are what Python 3's json.dumps says.
TEST_CASE("numbers are written as Python writes them") {
  const std::vector<std::pair<double, std::string>> numbers = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {-1.5, "-1.5"},
      {0.1, "0.1"},
      {100.0, "100.0"},
      {123456.789, "123456.789"},
      {1e15, "1000000000000000.0"},
      {1e16, "1e+16"},
      {1.5e16, "1.5e+16"},
      {9007199254740993.0, "9007199254740992.0"},
      {1e22, "1e+22"},
      {1e100, "1e+100"},
      {0.0001, "0.0001"},
      {0.00012, "0.00012"},
      {0.00001, "1e-05"},
      {1.5e-7, "1.5e-07"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {2.0 / 3, "0.6666666666666666"},
      {5e-5, "5e-05"},
  };
  for (const auto& [number, text] : numbers) CHECK(canonical_json(number) == text);
  CHECK(canonical_json(-5) == "-5");
  CHECK(canonical_json(18446744073709551615u) == "18446744073709551615");
}

TEST_CASE("keys are sorted, and nothing is escaped that need not be") {
  CHECK(canonical_json(json::parse(
            R"({"b":[1, 2.0 ,null],"a":{"z":true,"\u00e9":"\u00e9\n\u0001\u007f/\""},"":{}})")) ==
        "{\"\":{},\"a\":{\"z\":true,\"\u00e9\":\"\u00e9\\n\\u0001\x7f/\\\"\"},\"b\":[1,2.0,null]}");
  CHECK(canonical_json(json::array()) == "[]");
}
