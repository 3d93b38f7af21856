// The cgroup base of a supervisor: named ones that are refused, and the search where none is named.

#include <sched.h>
#include <sys/mount.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "kernel/confine/cgroup_files.hpp"
#include "kernel/confine/cgroup_paths.hpp"
#include "kernel/confine/cgroup_search.hpp"
#include "kernel/policy/scratch_directory.hpp"
#include "sandbox/sandbox_fixture.hpp"
#include "sandbox/test_cgroup.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

constexpr uid_t root = 0;
constexpr uid_t user = 60577;  // nobody's

bool contains(const std::string& text, const std::string& part) {
  INFO("looking for '" << part << "' in: " << text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

std::string refusal(const std::string& path) {
  const auto base = prepare_cgroup_base(path);
  if (base) return "accepted";
  return base.error().code == ErrorCode::sandbox_not_available ? base.error().message : "code";
}

std::string own_cgroup() {
  return cgroup2_path(read_file("/proc/self/cgroup", 1u << 16).value_or(""));
}

// "BASE OWN-CGROUP PROBLEM", of a process that looks for its base.
std::string found() {
  const CgroupSearch search = find_cgroup_base();
  return (search.base ? search.base->path : "none") + " " + own_cgroup() + " " + search.problem;
}

// Not by way of prepare_cgroup_base, which would change the cgroup.
std::string proc_path(const TestCgroup& cgroup) {
  return in_cgroup_as(cgroup.path(), root, own_cgroup);
}

}  // namespace

// ---- A base that is named ----------------------------------------------------------------------

TEST_CASE("a named base is known by the path that its processes will show") {
  const TestCgroup cgroup;
  NEEDS(cgroup && is_root(), no_cgroup2);
  const auto base = prepare_cgroup_base(cgroup.path());
  REQUIRE(base);
  CHECK(in_cgroup_as(cgroup.make("leaf"), root, own_cgroup) == base->proc_path + "/leaf");
  CHECK((base->controllers.size() == 3) == base->problem.empty());
}

TEST_CASE("a named base is made below a cgroup") {
  const TestCgroup cgroup;
  NEEDS(cgroup, no_cgroup2);
  REQUIRE(prepare_cgroup_base(cgroup.path() + "/made"));
  CHECK(std::filesystem::exists(cgroup.path() + "/made/cgroup.procs"));
  CHECK(contains(refusal(cgroup.path() + "/missing/base"), "cannot be opened: No such file"));
}

TEST_CASE("a threaded cgroup is no base, and neither is one with threaded children") {
  const TestCgroup cgroup;
  NEEDS(cgroup, no_cgroup2);
  const std::string child = cgroup.make("child");
  REQUIRE(write_cgroup_file(child + "/cgroup.type", "threaded") == 0);
  CHECK(contains(refusal(child), "is of type 'threaded'"));
  CHECK(contains(refusal(cgroup.path()), "is of type 'domain threaded'"));
  // One that would be made below cannot take processes, and is not left behind.
  CHECK(contains(refusal(cgroup.path() + "/made"), "is of type 'domain invalid'"));
  CHECK_FALSE(std::filesystem::exists(cgroup.path() + "/made"));
}

TEST_CASE("the root of a hierarchy is no base") {
  const TestCgroup cgroup;
  NEEDS(cgroup, no_cgroup2);
  const std::string top = cgroup_parent(cgroup.path());
  NEEDS(!std::filesystem::exists(top + "/cgroup.type"), "cgroup v2 is mounted from a namespace");
  CHECK(contains(refusal(top), "is the root of its hierarchy"));
}

TEST_CASE("a cgroup of v1 is no base") {
  const std::string v1 = "/sys/fs/cgroup/pids";
  NEEDS(std::filesystem::exists(v1 + "/tasks"), "no cgroup v1 here");
  CHECK(contains(refusal(v1), "is not on a cgroup2 file system"));
}

TEST_CASE("a base of another user is refused, whichever of both asks") {
  const TestCgroup cgroup;
  NEEDS(cgroup && is_root(), no_cgroup2);
  const std::string theirs = cgroup.make("theirs");
  const std::string text = in_cgroup_as(theirs, user, [&] { return refusal(cgroup.path()); });
  CHECK(contains(text, "is not delegated to uid 60577: '" + cgroup.path() +
                           "' cannot be written (Permission denied), and the directory belongs to "
                           "uid 0; start paddock under `systemd-run --user --scope -p "
                           "Delegate=yes`"));
  CHECK(in_cgroup_as(theirs, user, [&] {
          return refusal(cgroup.path() + "/new");
        }).ends_with("cannot be made: Permission denied"));
  give_to(user, theirs);
  CHECK(contains(refusal(theirs), "belongs to uid 60577, who could move runs out of it"));
}

TEST_CASE("a base is of no use to a user whose own cgroup is outside what is delegated") {
  const TestCgroup cgroup;
  NEEDS(cgroup && is_root(), no_cgroup2);
  const std::string delegated = cgroup.make("delegated");
  give_to(user, delegated);
  const std::string outside = cgroup.make("outside");
  CHECK(contains(in_cgroup_as(outside, user, [&] { return refusal(delegated); }),
                 "cannot be entered from this process's cgroup '" + proc_path(cgroup) +
                     "/outside': that takes the right to write '" + cgroup.path() +
                     "/cgroup.procs'"));
  CHECK(in_cgroup_as(delegated, user, [&] { return refusal(delegated + "/base"); }) == "accepted");
}

TEST_CASE("processes in a base matter only where there is a controller to enable") {
  const TestCgroup cgroup;
  NEEDS(cgroup, no_cgroup2);
  const Inhabitant somebody(cgroup.path());
  const auto available = cgroup_words(cgroup.path() + "/cgroup.controllers");
  const bool some = std::any_of(available.begin(), available.end(), [](const auto& name) {
    return name == "memory" || name == "pids" || name == "cpu";
  });
  if (!some) CHECK(refusal(cgroup.path()) == "accepted");  // it still is a run's identity
  NEEDS(some, no_controllers);
  CHECK(contains(refusal(cgroup.path()), "has processes in it"));
  CHECK(cgroup_words(cgroup.path() + "/cgroup.subtree_control").empty());
}

// ---- The search --------------------------------------------------------------------------------

TEST_CASE("a user's delegated cgroup becomes the base, once its supervisor has left it") {
  const TestCgroup cgroup;
  NEEDS(cgroup && is_root(), no_cgroup2);
  give_to(user, cgroup.path());
  const std::string expected = cgroup.path() + " " + proc_path(cgroup) + "/supervisor ";
  for (int supervisors = 0; supervisors < 2; ++supervisors)
    CHECK(contains(in_cgroup_as(cgroup.path(), user, found), expected));
  // A second one, or the same once more, starts where the first has moved to.
  CHECK(contains(in_cgroup_as(cgroup.path() + "/supervisor", user, found), expected));
  CHECK(contains(in_cgroup_as(cgroup.path(), user, [] { return found(), found(); }), expected));
}

TEST_CASE("a user's run can be put into a leaf below the base that was found") {
  const TestCgroup cgroup;
  NEEDS(cgroup && is_root(), no_cgroup2);
  give_to(user, cgroup.path());
  const std::string seen = in_cgroup_as(cgroup.path(), user, [] {
    const CgroupSearch search = find_cgroup_base();
    if (!search.base) return search.problem;
    const auto leaf = CgroupLeaf::create(*search.base, "leaf", CgroupLimits{});
    if (!leaf) return leaf.error().message;
    const Inhabitant agent(search.base->path + "/leaf");
    const auto cgroups = read_file("/proc/" + std::to_string(agent.pid()) + "/cgroup", 1u << 16);
    return cgroup2_path(*cgroups) == search.base->proc_path + "/leaf" && leaf->populated()
               ? std::string("in its leaf")
               : *cgroups;
  });
  CHECK(seen == "in its leaf");
}

TEST_CASE("a delegated cgroup with others in it is a base, and nobody is moved") {
  const TestCgroup cgroup;
  NEEDS(cgroup && is_root(), no_cgroup2);
  give_to(user, cgroup.path());
  const Inhabitant shell(cgroup.path());
  CHECK(contains(in_cgroup_as(cgroup.path(), user, found),
                 cgroup.path() + " " + proc_path(cgroup) + " "));
  CHECK_FALSE(cgroup.has_children());
}

TEST_CASE("a user without a delegated cgroup has no base, and is told what helps") {
  const TestCgroup cgroup;
  NEEDS(cgroup && is_root(), no_cgroup2);
  const std::string own = proc_path(cgroup);
  const std::string text = in_cgroup_as(cgroup.path(), user, found);
  CHECK(contains(text, "none " + own + " cgroup '" + own + "' is not delegated to uid 60577"));
  CHECK(contains(text, "systemd-run --user --scope -p Delegate=yes"));
  const std::string top = cgroup_parent(cgroup.path());
  NEEDS(!std::filesystem::exists(top + "/cgroup.type"), "cgroup v2 is mounted from a namespace");
  CHECK(contains(in_cgroup_as(top, user, found), "none / cgroup '/' is the root of its hierarchy"));
}

TEST_CASE("root in a cgroup that nobody gave it makes a base below it and stays where it is") {
  const TestCgroup cgroup;
  NEEDS(cgroup && is_root(), no_cgroup2);
  const std::string own = proc_path(cgroup);
  CHECK(
      contains(in_cgroup_as(cgroup.path(), root, found), cgroup.path() + "/paddock " + own + " "));
  CHECK_FALSE(cgroup.has_children());
}

TEST_CASE("root in a cgroup that systemd has marked as delegated uses it like a user") {
  const TestCgroup cgroup;
  NEEDS(cgroup && is_root(), no_cgroup2);
  REQUIRE(::setxattr(cgroup.path().c_str(), "user.delegate", "1", 1, 0) == 0);
  CHECK(contains(in_cgroup_as(cgroup.path(), root, found),
                 cgroup.path() + " " + proc_path(cgroup) + "/supervisor "));
  REQUIRE(::setxattr(cgroup.path().c_str(), "user.delegate", "0", 1, 0) == 0);
  CHECK(contains(in_cgroup_as(cgroup.path(), root, found), cgroup.path() + "/paddock "));
}

TEST_CASE("root in a container's cgroup namespace uses the root of that") {
  const TestCgroup cgroup;
  NEEDS(cgroup && is_root(), no_cgroup2);
  const ScratchDirectory scratch;
  const std::string own = proc_path(cgroup);
  const auto in_container = [&] {
    if (::unshare(CLONE_NEWCGROUP | CLONE_NEWNS) != 0) return std::string("unshare");
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return std::string("make mounts private");
    // The mounts of outside are there still, and tell nothing.
    const std::string outside = find_cgroup_base().problem;
    if (::mount("cgroup2", scratch.path().c_str(), "cgroup2", 0, nullptr) != 0)
      return std::string("mount cgroup2");
    return found() + outside;
  };
  const std::string text = in_cgroup_as(cgroup.path(), root, in_container);
  CHECK(contains(text, scratch.path() + " /supervisor "));
  CHECK(contains(text, "no cgroup2 mount shows this process's cgroup '/'"));
  CHECK(in_cgroup_as(cgroup.path() + "/supervisor", root, own_cgroup) == own + "/supervisor");
}

TEST_CASE("a mount that another one hides does not lead to a cgroup of others") {
  const TestCgroup cgroup;
  NEEDS(cgroup && is_root(), no_cgroup2);
  const ScratchDirectory scratch;
  cgroup.make("others");
  const auto in_container = [&] {
    const std::string where = scratch.path();
    const std::string others = where + "/others";
    if (::unshare(CLONE_NEWCGROUP | CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("cgroup2", where.c_str(), "cgroup2", 0, nullptr) != 0 ||
        ::mount(others.c_str(), where.c_str(), nullptr, MS_BIND, nullptr) != 0)
      return std::string("mount");
    return found();
  };
  CHECK(contains(in_cgroup_as(cgroup.path(), root, in_container),
                 "none / no cgroup2 mount shows this process's cgroup '/'"));
  CHECK_FALSE(std::filesystem::exists(cgroup.path() + "/others/supervisor"));
}

TEST_CASE("a cgroup that supervisors share is removed by the last of them") {
  const TestCgroup cgroup;
  NEEDS(cgroup, no_cgroup2);
  const std::string path = cgroup.path() + "/paddock";
  {
    std::optional<SharedCgroup> first = SharedCgroup::open(path).value();
    const SharedCgroup second = SharedCgroup::open(path).value();
    first.reset();
    CHECK(std::filesystem::exists(path));
  }
  CHECK_FALSE(std::filesystem::exists(path));
  {
    const SharedCgroup in_use = SharedCgroup::open(path).value();
    cgroup.make("paddock/leaf");
  }
  CHECK(std::filesystem::exists(path));
}

TEST_CASE("a sandbox looks for a base only when it is told to") {
  const TestCgroup cgroup;
  NEEDS(cgroup && is_root(), no_cgroup2);
  const auto base_of = [](const SandboxOptions& options) {
    const Sandbox sandbox = Sandbox::open(options).value();
    return (sandbox.cgroup().base ? sandbox.cgroup().base->path : "none") + own_cgroup();
  };
  const std::string own = proc_path(cgroup);
  CHECK(in_cgroup_as(cgroup.path(), root, [&] { return base_of({}); }) == "none" + own);
  CHECK(in_cgroup_as(cgroup.path(), root, [&] { return base_of({.cgroup_base = "none"}); }) ==
        "none" + own);
  CHECK(in_cgroup_as(cgroup.path(), root, [&] { return base_of({.cgroup_base = ""}); }) ==
        cgroup.path() + "/paddock" + own);
}
