#include "supervisor/runs/run_record.hpp"

#include <set>

#include "support/catch.hpp"

using namespace paddock::supervisor;

TEST_CASE("run ids are well-formed and never the same") {
  std::set<RunId> ids;
  for (int i = 0; i < 10000; ++i) {
    const RunId id = make_run_id();
    REQUIRE(id.size() == 18);
    REQUIRE(id.starts_with("r-"));
    REQUIRE(id.find_first_not_of("0123456789abcdef", 2) == std::string::npos);
    ids.insert(id);
  }
  CHECK(ids.size() == 10000);
}

TEST_CASE("a phase has one name, and a name one phase") {
  CHECK(name_of(RunPhase::queued) == "queued");
  CHECK(name_of(RunPhase::running) == "running");
  CHECK(name_of(RunPhase::finished) == "finished");
  for (const RunPhase phase : {RunPhase::queued, RunPhase::running, RunPhase::finished})
    CHECK(phase_named(name_of(phase)) == phase);
  for (const char* name : {"", "Queued", "done", "running "}) CHECK_FALSE(phase_named(name));
}
