#include "supervisor/verify/result_cache.hpp"

#include "support/catch.hpp"

using namespace paddock::supervisor;

namespace {

ResultKey key(const std::string& code, const std::string& tenant = "t") {
  return {.tenant = tenant, .code_hash = code, .tests_hash = "tests", .policy_hash = "policy"};
}

ItemAnswer answer(Verdict verdict, const std::string& cause = "passed") {
  ItemAnswer made;
  made.id = "id";
  made.verdict = verdict;
  made.cause = cause;
  made.nonce = "n";
  made.mac = "m";
  made.runs = {"r-0000000000000001"};
  return made;
}

}  // namespace

TEST_CASE("only what would be the same at any other time is kept") {
  ResultCache cache;
  cache.put(key("pass"), answer(Verdict::pass));
  cache.put(key("fail"), answer(Verdict::fail, "wrong_answer"));
  cache.put(key("late"), answer(Verdict::fail, "wall_clock"));
  cache.put(key("cpu"), answer(Verdict::fail, "cpu_limit"));
  cache.put(key("invalid"), answer(Verdict::invalid, "host_overloaded"));
  ItemAnswer partly = answer(Verdict::fail, "wrong_answer");
  partly.cases.resize(2);
  partly.cases[1].cause = "wall_clock";
  cache.put(key("partly"), partly);
  CHECK(cache.find(key("pass")));
  CHECK(cache.find(key("fail")));
  for (const char* code : {"late", "cpu", "invalid", "partly"}) CHECK_FALSE(cache.find(key(code)));
}

TEST_CASE("a verdict is found by all that it depends on, and does not say whose it was") {
  ResultCache cache;
  cache.put(key("c"), answer(Verdict::pass));
  const auto found = cache.find(key("c"));
  REQUIRE(found);
  CHECK(found->runs.size() == 1);
  for (const std::string* own : {&found->id, &found->nonce, &found->mac}) CHECK(own->empty());
  CHECK_FALSE(cache.find(key("c", "other")));
  ResultKey other = key("c");
  other.tests_hash = "other";
  CHECK_FALSE(cache.find(other));
  other = key("c");
  other.policy_hash = "other";
  CHECK_FALSE(cache.find(other));
}

TEST_CASE("the least recently used verdict goes first, by number and by bytes") {
  ResultCache cache({.entries_max = 2});
  cache.put(key("a"), answer(Verdict::pass));
  cache.put(key("b"), answer(Verdict::pass));
  CHECK(cache.find(key("a")));
  cache.put(key("c"), answer(Verdict::pass));
  CHECK(cache.find(key("a")));
  CHECK_FALSE(cache.find(key("b")));
  CHECK(cache.size() == 2);

  ResultCache small({.entries_max = 100, .bytes_max = 20'000});
  ItemAnswer large = answer(Verdict::pass);
  large.stdout_tail.assign(8000, 'x');
  for (const char* code : {"a", "b", "c"}) small.put(key(code), large);
  CHECK(small.size() == 2);
  CHECK(small.bytes() <= 20'000);
  small.put(key("b"), large);
  CHECK(small.size() == 2);
  large.stdout_tail.assign(30'000, 'x');
  small.put(key("huge"), large);
  CHECK(small.size() == 0);
  CHECK(small.bytes() == 0);
}
