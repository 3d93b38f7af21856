#include "supervisor/http/target.hpp"

#include "support/catch.hpp"

using namespace paddock::supervisor;

TEST_CASE("a target is split into path and query, and both are decoded") {
  CHECK(parse_target("/v1/runs") == Target{"/v1/runs", {}});
  CHECK(parse_target("/?") == Target{"/", {}});
  CHECK(parse_target("/a%20b+c?x=%2F+y&empty=&flag&&z=a=b") ==
        Target{"/a b+c", {{"x", "/ y"}, {"empty", ""}, {"flag", ""}, {"z", "a=b"}}});
}

TEST_CASE("a target that could be understood in two ways is refused") {
  for (const char* target : {"", "*", "http://host/", "host:80", "/%", "/%4", "/%zz", "/%00",
                             "/?a=%00", "/?%zz", "/a#b", "/a b", "/caf\xc3\xa9", "/\x7f"}) {
    INFO(target);
    const auto result = parse_target(target);
    REQUIRE_FALSE(result);
    CHECK(result.error().status == 400);
  }
  const auto twice = parse_target("/?state=alive&state=dead");
  REQUIRE_FALSE(twice);
  CHECK(twice.error().message == "the query parameter 'state' is given twice");
}
