// Leaves: their limits, their removal, and what is swept.

#include <sys/resource.h>

#include <filesystem>
#include <optional>

#include "sandbox/sandbox_fixture.hpp"
#include "sandbox/test_cgroup.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

const CgroupLimits limits{
    .use = CgroupUse::if_delegated, .memory_max = (64u << 20) + 1, .pids_max = 20, .cpu_max = 0.5};
const std::string dead_run = "r-0123456789abcdef";

}  // namespace

TEST_CASE("a leaf has the limits that were planned, as the kernel shows them") {
  const TestCgroup cgroup;
  NEEDS(cgroup, no_cgroup2);
  const CgroupBase base = prepare_cgroup_base(cgroup.path()).value();
  const auto leaf = CgroupLeaf::create(base, "leaf", limits);
  REQUIRE(leaf);
  CHECK(leaf->limits() == planned_knobs(limits, base));
  NEEDS(base.controllers.size() == 3, no_controllers);
  CHECK(leaf->limits().at("memory.max") == std::to_string(64u << 20));
}

TEST_CASE("a leaf with a living process in it is emptied and removed at its end") {
  const TestCgroup cgroup;
  NEEDS(cgroup, no_cgroup2);
  const CgroupBase base = prepare_cgroup_base(cgroup.path()).value();
  std::optional<CgroupLeaf> leaf = CgroupLeaf::create(base, "leaf", limits).value();
  CHECK_FALSE(leaf->populated());
  const Inhabitant left(cgroup.path() + "/leaf");
  CHECK(leaf->populated());
  leaf.reset();
  CHECK_FALSE(cgroup.has_children());
  CHECK_FALSE(left.is_alive());
}

TEST_CASE("cgroups that an agent made in its leaf go with it") {
  const TestCgroup cgroup;
  NEEDS(cgroup, no_cgroup2);
  const CgroupBase base = prepare_cgroup_base(cgroup.path()).value();
  std::optional<CgroupLeaf> leaf = CgroupLeaf::create(base, "leaf", limits).value();
  cgroup.make("leaf/a");
  cgroup.make("leaf/a/.hidden");
  cgroup.make("leaf/b");
  const Inhabitant left(cgroup.path() + "/leaf/a/.hidden");
  leaf.reset();
  CHECK_FALSE(cgroup.has_children());
  CHECK_FALSE(left.is_alive());
}

TEST_CASE("a leaf of which nothing can be read is not taken for empty") {
  const TestCgroup cgroup;
  NEEDS(cgroup, no_cgroup2);
  const CgroupBase base = prepare_cgroup_base(cgroup.path()).value();
  const CgroupLeaf leaf = CgroupLeaf::create(base, "leaf", limits).value();
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const bool populated = leaf.populated();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(populated);
  CHECK_FALSE(leaf.populated());
}

TEST_CASE("what a killed supervisor left is swept, with the processes in it") {
  const TestCgroup cgroup;
  NEEDS(cgroup, no_cgroup2);
  const CgroupBase base = prepare_cgroup_base(cgroup.path()).value();
  const Inhabitant left(cgroup.make(dead_run));
  cgroup.make(dead_run + "/nested");
  CHECK(soon([&] {
    sweep_leaves(base);
    return !cgroup.has_children();
  }));
  CHECK_FALSE(left.is_alive());
}

TEST_CASE("a sweep leaves the runs of living supervisors alone, and what is none of ours") {
  const TestCgroup cgroup;
  NEEDS(cgroup, no_cgroup2);
  const CgroupBase base = prepare_cgroup_base(cgroup.path()).value();
  const CgroupLeaf live = CgroupLeaf::create(base, dead_run, limits).value();
  const Inhabitant running(cgroup.path() + "/" + dead_run);
  const Inhabitant other(cgroup.make("supervisor"));
  cgroup.make("r-0123456789abcdeX");
  sweep_leaves(base);
  // Who is killed dies a moment later.
  CHECK_FALSE(soon([&] { return !running.is_alive() || !other.is_alive(); },
                   std::chrono::milliseconds(100)));
  CHECK(live.populated());
  CHECK(std::filesystem::exists(cgroup.path() + "/r-0123456789abcdeX"));
}

TEST_CASE("a sandbox sweeps its base when it opens") {
  const TestCgroup cgroup;
  NEEDS(cgroup, no_cgroup2);
  cgroup.make(dead_run);
  const Sandbox sandbox = Sandbox::open({.cgroup_base = cgroup.path()}).value();
  CHECK_FALSE(cgroup.has_children());
}
