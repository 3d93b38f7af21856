#include "kernel/confine/cgroup.hpp"

#include <unistd.h>

#include <filesystem>

#include "kernel/policy/scratch_directory.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

using Knobs = std::map<std::string, std::string>;

const CgroupLimits everything{
    .use = CgroupUse::if_delegated, .memory_max = 1u << 20, .pids_max = 10, .cpu_max = 0.5};

}  // namespace

TEST_CASE("a directory that is not on cgroup2 is no cgroup base") {
  const ScratchDirectory scratch;
  const auto refused = prepare_cgroup_base(scratch.path());
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        Error{ErrorCode::sandbox_not_available,
              "cgroup base '" + scratch.path() + "' is not on a cgroup2 file system"});
}

TEST_CASE("a cgroup base that does not exist outside cgroup2 is refused, and not made") {
  const ScratchDirectory scratch;
  for (const std::string& path : {scratch.path() + "/base", std::string("/nonexistent/base")}) {
    const auto refused = prepare_cgroup_base(path);
    REQUIRE_FALSE(refused);
    CHECK(refused.error() ==
          Error{ErrorCode::sandbox_not_available,
                "cgroup base '" + path + "' cannot be opened: No such file or directory"});
    CHECK_FALSE(std::filesystem::exists(path));
  }
}

TEST_CASE("a cgroup base is named by an absolute path without detours") {
  for (const std::string path :
       {"relative", "", "/sys/fs/../fs/cgroup", "/sys/./fs", "/sys//fs", "/sys/fs/", "/"}) {
    const auto refused = prepare_cgroup_base(path);
    REQUIRE_FALSE(refused);
    CHECK(refused.error() ==
          Error{ErrorCode::sandbox_not_available,
                "cgroup base '" + path +
                    "' is not an absolute path without empty, '.' and '..' parts"});
  }
}

TEST_CASE("a cgroup base is not reached through a symbolic link") {
  const ScratchDirectory scratch;
  std::filesystem::create_symlink("/sys/fs", scratch.path() + "/link");
  const auto refused = prepare_cgroup_base(scratch.path() + "/link/cgroup");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "cgroup base '" + scratch.path() +
                                       "/link/cgroup' is reached through a symbolic link; name the "
                                       "directory itself");
}

TEST_CASE("every knob is planned, unlimited ones too") {
  const CgroupBase base{"/c", {"memory", "pids", "cpu"}};
  CHECK(planned_knobs(everything, base) == Knobs{{"memory.max", "1048576"},
                                                 {"memory.high", "max"},
                                                 {"memory.oom.group", "1"},
                                                 {"memory.swap.max", "0"},
                                                 {"pids.max", "10"},
                                                 {"cpu.max", "50000 100000"},
                                                 {"cpu.max.burst", "0"},
                                                 {"cpu.weight", "100"}});
  CHECK(planned_knobs({.use = CgroupUse::if_delegated,
                       .memory_max = std::nullopt,
                       .pids_max = std::nullopt,
                       .cpu_max = std::nullopt},
                      base) == Knobs{{"memory.max", "max"},
                                     {"memory.high", "max"},
                                     {"memory.oom.group", "0"},
                                     {"memory.swap.max", "max"},
                                     {"pids.max", "max"},
                                     {"cpu.max", "max 100000"},
                                     {"cpu.max.burst", "0"},
                                     {"cpu.weight", "100"}});
}

TEST_CASE("knobs are planned for the controllers and files that the leaves have") {
  CHECK(planned_knobs(everything, CgroupBase{"/c"}).empty());
  CHECK(planned_knobs(everything, CgroupBase{"/c", {"pids"}}) == Knobs{{"pids.max", "10"}});
  const CgroupBase old{.path = "/c",
                       .controllers = {"memory", "cpu"},
                       .absent_knobs = {"memory.swap.max", "cpu.max.burst"}};
  CHECK(planned_knobs(everything, old) == Knobs{{"memory.max", "1048576"},
                                                {"memory.high", "max"},
                                                {"memory.oom.group", "1"},
                                                {"cpu.max", "50000 100000"},
                                                {"cpu.weight", "100"}});
}

TEST_CASE("knobs are planned as the kernel will show them") {
  const CgroupBase base{"/c", {"memory", "pids", "cpu"}};
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  CgroupLimits limits = everything;
  limits.memory_max = 10 * page + 1;  // whole pages
  limits.pids_max = 5'000'000;        // more than there can be on a host: EINVAL
  limits.cpu_max = 0.001;             // below the shortest quota: EINVAL
  const Knobs knobs = planned_knobs(limits, base);
  CHECK(knobs.at("memory.max") == std::to_string(10 * page));
  CHECK(knobs.at("pids.max") == "max");
  CHECK(knobs.at("cpu.max") == "1000 100000");
  limits.memory_max = ~std::uint64_t{0};
  CHECK(planned_knobs(limits, base).at("memory.max") == "max");
}
