#include "kernel/confine/cgroup.hpp"

#include "kernel/policy/scratch_directory.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

using Names = std::vector<std::string>;

const CgroupLimits everything{
    .use = CgroupUse::if_delegated, .memory_max = 1u << 20, .pids_max = 10, .cpu_max = 0.5};

}  // namespace

TEST_CASE("without a cgroup every limit that was asked for is missing") {
  CHECK(missing_controls(everything, std::nullopt) ==
        Names{"NO-MEMORY-CEILING(cgroup)", "NO-PIDS-CEILING(cgroup)", "NO-CPU-CEILING(cgroup)"});
}

TEST_CASE("a control is missing exactly if its controller is not delegated") {
  CHECK(missing_controls(everything, CgroupBase{"/c", {"memory", "pids", "cpu"}}).empty());
  CHECK(missing_controls(everything, CgroupBase{"/c", {"pids", "cpu"}}) ==
        Names{"NO-MEMORY-CEILING(cgroup)"});
  CHECK(missing_controls(everything, CgroupBase{"/c", {"memory", "cpu"}}) ==
        Names{"NO-PIDS-CEILING(cgroup)"});
  CHECK(missing_controls(everything, CgroupBase{"/c", {"memory", "pids"}}) ==
        Names{"NO-CPU-CEILING(cgroup)"});
}

TEST_CASE("a limit that nobody asked for is not missing") {
  CHECK(missing_controls({.use = CgroupUse::if_delegated,
                          .memory_max = std::nullopt,
                          .pids_max = 10,
                          .cpu_max = std::nullopt},
                         std::nullopt) == Names{"NO-PIDS-CEILING(cgroup)"});
  CHECK(missing_controls({.use = CgroupUse::required,
                          .memory_max = std::nullopt,
                          .pids_max = std::nullopt,
                          .cpu_max = std::nullopt},
                         std::nullopt)
            .empty());
}

TEST_CASE("a directory that is not on cgroup2 is no cgroup base") {
  const ScratchDirectory scratch;
  const auto refused = prepare_cgroup_base(scratch.path() + "/base");
  REQUIRE_FALSE(refused);
  CHECK(refused.error() ==
        Error{ErrorCode::sandbox_not_available,
              "cgroup base '" + scratch.path() + "/base' is not on a cgroup2 file system"});
}

TEST_CASE("a cgroup base that cannot be made is refused with the cause") {
  const auto refused = prepare_cgroup_base("/nonexistent/base");
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == Error{ErrorCode::sandbox_not_available,
                                 "cgroup base '/nonexistent/base' cannot be made: No such file or "
                                 "directory"});
}
