#include "escapes/runner/audit.hpp"

#include "support/catch.hpp"

using namespace paddock::escapes;

TEST_CASE("a host that is as it was has no leaks") {
  HostState state;
  state.mounts = "1 0 / /";
  state.descriptors = 9;
  state.files = {"/tmp/old"};
  CHECK(leaks(state, state).empty());
  HostState fewer = state;
  fewer.files = {};
  fewer.descriptors = 8;
  CHECK(leaks(state, fewer).empty());
}

TEST_CASE("each thing that a run leaves is named") {
  const HostState before;
  HostState after;
  after.children = {12};
  CHECK(leaks(before, after) == "process 12");
  after = {};
  after.mounts = "2 1 /x";
  CHECK(leaks(before, after) == "a mount");
  after = {};
  after.descriptors = 1;
  CHECK(leaks(before, after) == "a descriptor of the supervisor");
  after = {};
  after.cgroups = {"/base/run"};
  CHECK(leaks(before, after) == "cgroup /base/run");
  after = {};
  after.files = {"/tmp/new"};
  after.keys = 1;
  CHECK(leaks(before, after) == "file /tmp/new, a key");
  after = {};
  after.children = {1, 2, 3, 4, 5};
  CHECK(leaks(before, after) == "process 1, process 2, process 3 and 2 more");
}
