#include "kernel/confine/cgroup_paths.hpp"

#include "support/catch.hpp"

using namespace paddock::kernel;

TEST_CASE("a hybrid host's cgroup2 mount and own cgroup are found among those of v1") {
  const std::string mountinfo =
      "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
      "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
  const std::vector<CgroupMount> mounts = cgroup2_mounts(mountinfo);
  REQUIRE(mounts == std::vector<CgroupMount>{{"/", "/sys/fs/cgroup/unified"}});
  CHECK(cgroup2_path("8:pids:/a\n1:name=systemd:/b\n0::/user.slice/c\n") == "/user.slice/c");
  CHECK(directory_of(mounts[0], "/user.slice/c") == "/sys/fs/cgroup/unified/user.slice/c");
  CHECK(directory_of(mounts[0], "/") == "/sys/fs/cgroup/unified");
}

TEST_CASE("a host with cgroup v1 alone has neither mount nor cgroup of v2") {
  CHECK(cgroup2_mounts("39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n").empty());
  CHECK(cgroup2_path("8:pids:/a\n10::/not-this\n").empty());
}

TEST_CASE("optional fields of mountinfo do not hide the type of a mount") {
  CHECK(cgroup2_mounts("30 23 0:26 / /sys/fs/cgroup rw shared:9 master:1 - cgroup2 c rw\n") ==
        std::vector<CgroupMount>{{"/", "/sys/fs/cgroup"}});
  CHECK(cgroup2_mounts("30 23 0:26 / /x rw shared:9 - ext4 cgroup2 rw\n30 23 0:26 / /y\n").empty());
}

TEST_CASE("a mount point with blanks and backslashes is read as it is") {
  CHECK(cgroup2_mounts("30 23 0:26 /a\\134b /my\\040cgroups\\011x rw - cgroup2 c rw\n") ==
        std::vector<CgroupMount>{{"/a\\b", "/my cgroups\tx"}});
}

TEST_CASE(
    "in a container whose mount shows a nested cgroup only what is below it has a directory") {
  const CgroupMount mount{"/docker/0a1b", "/sys/fs/cgroup"};
  CHECK(directory_of(mount, "/docker/0a1b") == "/sys/fs/cgroup");
  CHECK(directory_of(mount, "/docker/0a1b/app") == "/sys/fs/cgroup/app");
  CHECK_FALSE(directory_of(mount, "/docker/0a1bc"));
  CHECK_FALSE(directory_of(mount, "/docker"));
  CHECK(proc_path_of(mount, "/sys/fs/cgroup") == "/docker/0a1b");
  CHECK(proc_path_of(mount, "/sys/fs/cgroup/app/r") == "/docker/0a1b/app/r");
  CHECK_FALSE(proc_path_of(mount, "/sys/fs/cgroup2/app"));
}

TEST_CASE("below the root of a hierarchy a directory has the path that its mount shows") {
  const CgroupMount mount{"/", "/sys/fs/cgroup"};
  CHECK(proc_path_of(mount, "/sys/fs/cgroup") == "/");
  CHECK(proc_path_of(mount, "/sys/fs/cgroup/a/b") == "/a/b");
}

TEST_CASE("a cgroup outside this cgroup namespace has no directory, and its mount tells none") {
  CHECK_FALSE(directory_of({"/", "/sys/fs/cgroup"}, "/../sibling"));
  CHECK_FALSE(directory_of({"/../..", "/sys/fs/cgroup"}, "/"));
  CHECK_FALSE(proc_path_of({"/..", "/sys/fs/cgroup"}, "/sys/fs/cgroup/a"));
  CHECK(directory_of({"/", "/c"}, "/..hidden") == "/c/..hidden");
}

TEST_CASE("the common ancestor of two cgroups is the deepest that holds both") {
  CHECK(common_ancestor("/a/b/c", "/a/b/d") == "/a/b");
  CHECK(common_ancestor("/a/b", "/a/bc") == "/a");
  CHECK(common_ancestor("/a", "/a/b/c") == "/a");
  CHECK(common_ancestor("/a/b/c", "/a") == "/a");
  CHECK(common_ancestor("/a", "/b") == "/");
  CHECK(common_ancestor("/", "/b") == "/");
}

TEST_CASE("parent, name and child of a cgroup fit each other, at the root too") {
  CHECK(cgroup_parent("/a/b") == "/a");
  CHECK(cgroup_parent("/a") == "/");
  CHECK(cgroup_name("/a/b") == "b");
  CHECK(cgroup_name("/").empty());
  CHECK(cgroup_child("/", "a") == "/a");
  CHECK(cgroup_child("/a", "b") == "/a/b");
}
