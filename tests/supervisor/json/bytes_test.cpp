#include "supervisor/json/bytes.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

using namespace paddock::supervisor;
using nlohmann::ordered_json;

TEST_CASE(
    "bytes of a JSON object are text, or base64 under another key, and read back as they were") {
  const struct {
    std::string bytes;
    ordered_json object;
  } table[] = {
      {"", {{"out", ""}}},
      {"a\n\xc3\xbc", {{"out", "a\n\xc3\xbc"}}},
      {std::string("\xff\0", 2), {{"out_base64", "/wA="}}},
  };
  for (const auto& row : table) {
    INFO(row.object);
    ordered_json object = ordered_json::object();
    CHECK_FALSE(has_bytes(object, "out"));
    add_bytes(object, "out", row.bytes);
    CHECK(object == row.object);
    CHECK(has_bytes(object, "out"));
    CHECK(bytes_at(object, "out").value() == row.bytes);
  }
}

TEST_CASE("bytes of a JSON object can have two keys of their own") {
  ordered_json text;
  add_bytes(text, "data", "base64", "a");
  CHECK(text == ordered_json{{"data", "a"}});
  CHECK(bytes_at(text, "data", "base64").value() == "a");
  ordered_json encoded;
  add_bytes(encoded, "data", "base64", "\xff");
  CHECK(encoded == ordered_json{{"base64", "/w=="}});
  CHECK(bytes_at(encoded, "data", "base64").value() == "\xff");
}

TEST_CASE("bytes that are not there, or no base64, are not taken for none") {
  CHECK_THROWS_AS(bytes_at(ordered_json::object(), "out"), ordered_json::exception);
  CHECK_FALSE(bytes_at({{"out_base64", "?"}}, "out"));
}
