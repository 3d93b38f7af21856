#include "supervisor/verify/parse_items.hpp"

#include <nlohmann/json.hpp>

#include "kernel/base/hash.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using nlohmann::json;
using std::chrono::milliseconds;

namespace {

json plain_call_item(const std::string& id = "a") {
  return {
      {"id", id},
      {"code", "def f(x): return x"},
      {"tests",
       {{"kind", "call"}, {"entry_point", "f"}, {"cases", {{{"args", {1}}, {"expected", 1}}}}}}};
}

json plain_stdio_item(const std::string& id = "a") {
  return {{"id", id},
          {"code", "print(1)"},
          {"tests", {{"kind", "stdio"}, {"cases", {{{"stdin", ""}, {"stdout", "1\n"}}}}}}};
}

json assert_item(const std::string& id = "a") {
  return {{"id", id},
          {"code", "def f(x): return x"},
          {"tests", {{"kind", "assert"}, {"source", "assert f(1) == 1"}}}};
}

json body_of(json items) {
  return {{"items", std::move(items)}};
}

VerifyRequest accepted(const std::string& body) {
  const auto parsed = parse_items(body);
  INFO((parsed ? "" : parsed.error().message));
  REQUIRE(parsed);
  return *parsed;
}

std::string refusal(const std::string& body) {
  INFO(body.substr(0, 300));
  const auto parsed = parse_items(body);
  CHECK_FALSE(parsed);
  if (parsed) return {};
  CHECK(parsed.error().code == kernel::ErrorCode::invalid_request);
  return parsed.error().message;
}

// Why the one item is refused; empty, and a failed test, if it is not.
std::string mistake_in(const json& item) {
  const VerifyRequest request = accepted(body_of({item}).dump());
  REQUIRE(request.items.size() == 1);
  const auto* const refused = std::get_if<RefusedItem>(&request.items[0]);
  CHECK(refused != nullptr);
  return refused == nullptr ? "" : refused->why;
}

const Item& item_in(const VerifyRequest& request, std::size_t index = 0) {
  const auto* const refused = std::get_if<RefusedItem>(&request.items.at(index));
  INFO((refused == nullptr ? "" : refused->why));
  REQUIRE(refused == nullptr);
  return std::get<Item>(request.items[index]);
}

Item only_item(const json& item) {
  return item_in(accepted(body_of({item}).dump()));
}

json with(json item, const std::string& pointer, const json& value) {
  item[json::json_pointer(pointer)] = value;
  return item;
}

json without(json item, const std::string& key) {
  item.erase(key);
  return item;
}

}  // namespace

TEST_CASE("a request says what is asked for, and the rest has defaults") {
  const VerifyRequest plain = accepted(body_of({plain_call_item()}).dump());
  CHECK(plain.profile.empty());
  CHECK(plain.scoring == Scoring::fraction);
  CHECK(plain.stop == Stop::all);
  CHECK_FALSE(plain.deadline);
  CHECK_FALSE(plain.stream);
  CHECK_FALSE(plain.cache);
  CHECK(plain.request_id.empty());

  json body = body_of({plain_call_item()});
  body.update({{"request_id", "step-17"},
               {"profile", "SEALED"},
               {"scoring", "all"},
               {"stop", "first_fail"},
               {"deadline_ms", 60000},
               {"stream", true},
               {"cache", true},
               {"allow_degraded", true}});
  const VerifyRequest full = accepted(body.dump());
  CHECK(full.request_id == "step-17");
  CHECK(full.profile == "SEALED");
  CHECK(full.scoring == Scoring::all);
  CHECK(full.stop == Stop::first_fail);
  CHECK(full.deadline == milliseconds(60000));
  CHECK(full.stream);
  CHECK(full.cache);
  CHECK(full.allow_degraded);
}

TEST_CASE("an item has its tests, its limits and its hashes") {
  json sent = plain_call_item("x");
  sent["group"] = "g1";
  sent["nonce"] = "n-1";
  sent["limits"] = {{"wall_seconds", 1.5}, {"memory_bytes", "64MiB"}, {"nproc", 4}};
  const Item item = only_item(sent);
  CHECK(item.id == "x");
  CHECK(item.group == "g1");
  CHECK(item.nonce == "n-1");
  CHECK(item.language == "python");
  CHECK(item.integrity == Integrity::separate);
  CHECK(item.limits.wall_clock == milliseconds(1500));
  CHECK(item.limits.memory_bytes == 64u << 20);
  CHECK(item.limits.nproc == 4u);
  CHECK(item.code_hash == kernel::sha256_hex("def f(x): return x"));
  const auto tests = std::get<JudgedTests>(item.tests);
  CHECK(tests.job == R"({"cases":[{"args":[1],"expected":1}],"entry_point":"f","kind":"call"})");
  CHECK(tests.cases == 1);
  CHECK(item.tests_hash ==
        kernel::sha256_hex(R"({"integrity":"separate","language":"python","scoring":"fraction",)"
                           R"("stop":"all","tests":)" +
                           tests.job + "}"));
}

TEST_CASE("the hash of tests tells scoring, stop and integrity apart, and no order of keys") {
  const auto hash = [](const json& item, const json& extra = json::object()) {
    json body = body_of({item});
    body.update(extra);
    return item_in(accepted(body.dump())).tests_hash;
  };
  const std::string plain = hash(plain_call_item());
  CHECK(hash(plain_call_item("other")) == plain);
  CHECK(hash(plain_call_item(), {{"scoring", "all"}}) != plain);
  CHECK(hash(plain_call_item(), {{"stop", "first_fail"}}) != plain);
  CHECK(hash(with(plain_call_item(), "/integrity", "in_process")) != plain);
  CHECK(hash(with(plain_call_item(), "/tests/cases/0/expected", 2)) != plain);
  const auto parsed = parse_items(
      R"({"items":[{"tests":{"cases":[{"expected":1,"args":[1]}],"kind":"call","entry_point":"f"},)"
      R"("id":"a","code":"def f(x): return x"}]})");
  REQUIRE(parsed);
  CHECK(item_in(*parsed).tests_hash == plain);
}

TEST_CASE("tests of standard input and output are read case by case") {
  json sent = plain_stdio_item();
  sent["language"] = "cpp";
  sent["tests"]["cases"] = {{{"stdin", {{"b64", "AP8="}}}, {"stdout", "x"}, {"checker", "tokens"}},
                            {{"stdin", "1"}, {"stdout", "2"}, {"checker", {{"float", 0.5}}}}};
  const Item item = only_item(sent);
  CHECK(item.integrity == Integrity::stdio);
  CHECK(item.language == "cpp");
  const auto tests = std::get<StdioTests>(item.tests);
  REQUIRE(tests.cases.size() == 2);
  CHECK(tests.cases[0].stdin_bytes == std::string("\0\xff", 2));
  CHECK(tests.cases[0].checker == Checker{Checker::Kind::tokens, 0});
  CHECK(tests.cases[1].checker == Checker{Checker::Kind::floating, 0.5});
}

TEST_CASE("code that is no text comes as base64") {
  CHECK(only_item(with(plain_call_item(), "/code", {{"b64", "/w=="}})).code == "\xff");
  CHECK(mistake_in(with(plain_call_item(), "/code", {{"b64", "/"}})) == "code.b64: must be base64");
  CHECK(mistake_in(with(plain_call_item(), "/code", {{"b46", "/w=="}})) ==
        "unknown key 'code.b46'; did you mean 'code.b64'?");
  CHECK(mistake_in(with(plain_call_item(), "/code", 5)) ==
        "code: must be a string, or {\"b64\": \"...\"}");
}

TEST_CASE("a mistake within an item is named with its place, and is that item's alone") {
  json bad = plain_stdio_item("bad");
  bad["tests"]["cases"][0]["stdin"] = 7;
  bad["group"] = "g";
  const VerifyRequest request =
      accepted(body_of({plain_call_item("a"), bad, assert_item("c")}).dump());
  REQUIRE(request.items.size() == 3);
  CHECK(item_in(request, 0).id == "a");
  CHECK(item_in(request, 2).id == "c");
  CHECK(std::get<RefusedItem>(request.items[1]) ==
        RefusedItem{"bad", "g", "tests.cases[0].stdin: must be a string, or {\"b64\": \"...\"}"});
}

TEST_CASE("tests that test nothing are refused") {
  CHECK(mistake_in(with(plain_call_item(), "/tests/cases", json::array())) ==
        "tests.cases: must not be empty");
  CHECK(mistake_in(with(plain_stdio_item(), "/tests/cases", json::array())) ==
        "tests.cases: must not be empty");
  for (const char* source : {"", "f(1)", "assertion = f(1)", "re_assert(f)", "assert_eq(f(1), 1)"})
    CHECK(mistake_in(with(assert_item(), "/tests/source", source)) ==
          "tests.source: has no assertion");
  for (const char* source : {"assert f(1)", "x = 1;assert(x)", "if x:\n\tassert\tx"})
    CHECK(only_item(with(assert_item(), "/tests/source", source)).id == "a");
}

TEST_CASE("what an item lacks or has too much of is said") {
  CHECK(mistake_in(without(plain_call_item(), "id")) == "the key 'id' is missing");
  CHECK(mistake_in(without(plain_call_item(), "code")) == "the key 'code' is missing");
  CHECK(mistake_in(without(plain_call_item(), "tests")) == "the key 'tests' is missing");
  CHECK(mistake_in(with(plain_call_item(), "/test", 1)) ==
        "unknown key 'test'; did you mean 'tests'?");
  CHECK(mistake_in(with(plain_call_item(), "/tests/cases/0/arg", 1)) ==
        "unknown key 'tests.cases[0].arg'; did you mean 'tests.cases[0].args'?");
  CHECK(mistake_in(with(plain_call_item(), "/tests/cases/0", {{"args", {1}}})) ==
        "the key 'tests.cases[0].expected' is missing");
  CHECK(mistake_in(with(plain_call_item(), "/tests/cases/0", {{"expected", 1}})) ==
        "the key 'tests.cases[0].args' is missing");
  CHECK(mistake_in(with(plain_call_item(), "/tests/kind", "calls")) ==
        "tests.kind: 'calls' is not known; did you mean 'call'?");
  CHECK(mistake_in(with(plain_call_item(), "/tests", {{"cases", 1}})) ==
        "the key 'tests.kind' is missing");
  CHECK(mistake_in(5) == "an item must be an object");
  CHECK(mistake_in(with(assert_item(), "/tests/entry_point", "f g")) ==
        "tests.entry_point: must be the name of a function, such as \"f\" or \"Solution.f\"");
  for (const char* name : {"", ".f", "f.", "f..g", "1f", "f()", "a-b"})
    CHECK(mistake_in(with(plain_call_item(), "/tests/entry_point", name))
              .starts_with("tests.entry_point"));
  CHECK(only_item(with(plain_call_item(), "/tests/entry_point", "Solution.f_1")).id == "a");
  CHECK(only_item(with(plain_call_item(), "/tests/entry_point", "Solution().f")).id == "a");
  CHECK(only_item(with(plain_call_item(), "/tests/entry_point", "Outer.Solution().f")).id == "a");
  json both = assert_item();
  both["tests"].update({{"entry_point", "f"}, {"entry_points", {"f"}}});
  CHECK(mistake_in(both) == "tests: 'entry_point' and 'entry_points' exclude each other");
}

TEST_CASE("each kind of tests has its own checkers") {
  for (const json& checker : {json("exact"), json("lines"), json("tokens"), json({{"float", 0}})})
    CHECK(only_item(with(plain_stdio_item(), "/tests/cases/0/checker", checker)).id == "a");
  for (const json& checker : {json("exact"), json("unordered"), json({{"float", 1e-6}})})
    CHECK(only_item(with(plain_call_item(), "/tests/cases/0/checker", checker)).id == "a");
  CHECK(mistake_in(with(plain_stdio_item(), "/tests/cases/0/checker", "unordered")) ==
        "tests.cases[0].checker: 'unordered' is none of 'exact', 'lines', 'tokens'");
  CHECK(mistake_in(with(plain_call_item(), "/tests/cases/0/checker", "line")) ==
        "tests.cases[0].checker: 'line' is none of 'exact', 'unordered'");
  for (const json& bad : {json(-1), json("1"), json(nullptr)})
    CHECK(mistake_in(with(plain_call_item(), "/tests/cases/0/checker", {{"float", bad}})) ==
          "tests.cases[0].checker.float: must be a number of 0 or more");
}

TEST_CASE("integrity and language fit the tests") {
  CHECK(only_item(with(plain_call_item(), "/integrity", "in_process")).integrity ==
        Integrity::in_process);
  CHECK(mistake_in(with(plain_call_item(), "/integrity", "stdio")).starts_with("integrity: "));
  CHECK(mistake_in(with(plain_stdio_item(), "/integrity", "separate")).starts_with("integrity: "));
  CHECK(mistake_in(with(plain_call_item(), "/integrity", "seperate")) ==
        "integrity: 'seperate' is not known; did you mean 'separate'?");
  CHECK(mistake_in(with(plain_call_item(), "/language", "cpp")).starts_with("language: "));
}

TEST_CASE("limits are read as those of a run, and others are unknown") {
  CHECK(mistake_in(with(plain_call_item(), "/limits", {{"wall_second", 1}})) ==
        "unknown key 'limits.wall_second'; did you mean 'limits.wall_seconds'?");
  CHECK(mistake_in(with(plain_call_item(), "/limits", {{"nproc", 0}})) ==
        "limits.nproc: must be a whole number of 1 or more");
  CHECK(mistake_in(with(plain_call_item(), "/limits", {{"wall_seconds", -1}}))
            .starts_with("limits.wall_seconds: "));
}

TEST_CASE("names are printable, not empty, and not long") {
  for (const char* key : {"/id", "/group", "/nonce"}) {
    INFO(key);
    const std::string name(key + 1);
    CHECK(mistake_in(with(plain_call_item(), key, "")) == name + ": must not be empty");
    CHECK(mistake_in(with(plain_call_item(), key, "a\nb")) ==
          name + ": must be without control characters");
    CHECK(mistake_in(with(plain_call_item(), key, "a\x7f")) ==
          name + ": must be without control characters");
    CHECK(mistake_in(with(plain_call_item(), key, "a\u0085")) ==
          name + ": must be without control characters");
    CHECK(mistake_in(with(plain_call_item(), key, std::string(257, 'x'))) ==
          name + ": must be at most 256 bytes");
    CHECK(mistake_in(with(plain_call_item(), key, 5)) == name + ": must be a string");
    CHECK(only_item(with(plain_call_item(), key, std::string(256, 'x'))).language == "python");
    CHECK(only_item(with(plain_call_item(), key, "gr\u00fcn \u65e5")).language == "python");
  }
  // Nothing is answered in the name of an id that is none.
  const VerifyRequest request = accepted(body_of({with(plain_call_item(), "/id", "a\nb")}).dump());
  CHECK(std::get<RefusedItem>(request.items[0]).id.empty());
}

TEST_CASE("of equal ids and nonces the first counts") {
  json first = plain_call_item("a");
  first["nonce"] = "n";
  json second = plain_call_item("b");
  second["nonce"] = "n";
  const VerifyRequest request =
      accepted(body_of({first, plain_call_item("a"), plain_call_item("a"), second}).dump());
  CHECK(item_in(request, 0).id == "a");
  for (const std::size_t later : {std::size_t{1}, std::size_t{2}})
    CHECK(std::get<RefusedItem>(request.items[later]).why ==
          "id: another item of this request has the id 'a'");
  CHECK(std::get<RefusedItem>(request.items[3]).why ==
        "nonce: another item of this request has it");
}

TEST_CASE("a mistake outside the items fails the request") {
  CHECK(refusal("") == "the body is not valid JSON: near byte 1");
  CHECK(refusal("{\"items\":[}") == "the body is not valid JSON: near byte 11");
  CHECK(refusal("[]") == "the body must be a JSON object");
  CHECK(refusal("{}") == "the key 'items' is missing");
  CHECK(refusal(R"({"items":{}})") == "items: must be an array");
  CHECK(refusal(R"({"items":[]})") == "items: must not be empty");
  const auto with_key = [](const std::string& key, const json& value) {
    json body = body_of({plain_call_item()});
    body[key] = value;
    return body.dump();
  };
  CHECK(refusal(with_key("profil", "X")) == "unknown key 'profil'; did you mean 'profile'?");
  CHECK(refusal(with_key("scoring", "some")) == "scoring: 'some' is none of 'fraction', 'all'");
  CHECK(refusal(with_key("stop", "first_fial")) ==
        "stop: 'first_fial' is not known; did you mean 'first_fail'?");
  CHECK(refusal(with_key("deadline_ms", 0)) ==
        "deadline_ms: must be a whole number from 1 to 86400000");
  CHECK(refusal(with_key("deadline_ms", -5)).starts_with("deadline_ms: "));
  CHECK(refusal(with_key("deadline_ms", 1e300)).starts_with("deadline_ms: "));
  CHECK(refusal(with_key("stream", 1)) == "stream: must be true or false");
  for (const char* bad : {"", "a b", "a/b", "\u00fc"})
    CHECK(refusal(with_key("request_id", bad)) ==
          "request_id: must be 1 to 128 of A-Z a-z 0-9 . _ -");
  CHECK(refusal(with_key("request_id", std::string(129, 'x'))).starts_with("request_id: "));
  CHECK(refusal(R"({"items":[1],"stop":"all","stop":"all"})") == "the key 'stop' is given twice");
  CHECK(refusal(R"({"items":[1],"x":1e999})").ends_with("is out of range"));
}

TEST_CASE("a key that is given twice, or depth, spoils the item that has it and no other") {
  const std::string good = plain_call_item("good").dump();
  const VerifyRequest twice =
      accepted(R"({"items":[{"id":"a","id":"a"},)" + good + R"(,{"tests":{"x":{"y":1,"y":2}}}]})");
  CHECK(std::get<RefusedItem>(twice.items[0]).why == "the key 'id' is given twice");
  CHECK(item_in(twice, 1).id == "good");
  CHECK(std::get<RefusedItem>(twice.items[2]).why == "the key 'y' is given twice");

  const std::string deep = std::string(5000, '[') + std::string(5000, ']');
  const VerifyRequest nested = accepted(R"({"items":[)" + good + R"(,{"id":"deep","tests":)" +
                                        deep + "}," + assert_item("last").dump() + "]}");
  CHECK(item_in(nested, 0).id == "good");
  CHECK(std::get<RefusedItem>(nested.items[1]).why == "it is nested too deeply");
  CHECK(item_in(nested, 2).id == "last");
  CHECK(refusal(R"({"items":[1],"profile":)" + deep + "}") == "it is nested too deeply");
  json value = 1;
  for (int i = 0; i < 100; ++i) value = json::array({value});
  CHECK(only_item(with(plain_call_item(), "/tests/cases/0/expected", value)).id == "a");
}

TEST_CASE("integers beyond 64 bits stay integers") {
  const VerifyRequest request = accepted(
      R"({"items":[{"id":"a","code":"","tests":{"kind":"call","entry_point":"f","cases":)"
      R"([{"args":[-123456789012345678901234567890],"expected":100000000000000000001}]}}]})");
  CHECK(std::get<JudgedTests>(item_in(request).tests)
            .job.find(
                R"("args":[-123456789012345678901234567890],"expected":100000000000000000001)") !=
        std::string::npos);
}

TEST_CASE("integers of thousands of digits are kept, and nothing else is taken for one") {
  const std::string digits(5000, '7');
  const auto parsed_job = [](const std::string& args) {
    const VerifyRequest request = accepted(
        R"({"items":[{"id":"a","code":"","tests":{"kind":"call","entry_point":"f","cases":)"
        R"([{"args":[)" +
        args + R"(],"expected":1}]}}]})");
    return std::get<JudgedTests>(item_in(request).tests).job;
  };
  for (const std::string& args :
       {digits, "-" + digits, digits + ",2," + digits + "8", "\"" + digits + "\"",
        "\"\\\"\"," + digits, "{\"" + digits + "\":" + digits + "}", "\"\\\\\"," + digits})
    CHECK(parsed_job(args).find("\"args\":[" + args + "]") != std::string::npos);
  CHECK(parsed_job("0e-0000000000").find("\"args\":[0.0]") != std::string::npos);
  CHECK(parsed_job(digits + ",0e-0000000007").find("," + std::string("0.0]")) != std::string::npos);
  // What stands behind a point or an exponent is no integer.
  CHECK(parsed_job("0." + digits).find("[0.777777777777777") != std::string::npos);
  CHECK(parsed_job("-3.14" + digits).find("[-3.14777777777777") != std::string::npos);
  for (const std::string& bad : {"1e" + digits, "1e+" + digits, "0." + digits + "e" + digits})
    CHECK(refusal(R"({"items":[{"tests":)" + bad + "}]}").find("out of range") !=
          std::string::npos);
  CHECK(parsed_job("1e-" + digits).find("[0.0]") != std::string::npos);
  for (const std::string& bad : {"0" + digits, digits + ".5", digits + "e1", digits + "x"})
    refusal(R"({"items":[{"tests":)" + bad + "}]}");
}

TEST_CASE("no more items and cases than the most are taken") {
  json items = json::array();
  for (std::size_t i = 0; i <= items_max; ++i) items.push_back(1);
  CHECK(refusal(body_of(items).dump()) == "items: 10001, and 10000 are the most");
  items.erase(0);
  CHECK(accepted(body_of(items).dump()).items.size() == items_max);
  json cases = json::array();
  for (int i = 0; i < 10'001; ++i) cases.push_back({{"args", json::array()}, {"expected", 1}});
  CHECK(mistake_in(with(plain_call_item(), "/tests/cases", cases)) ==
        "tests.cases: 10001 cases, and 10000 are the most");
}
